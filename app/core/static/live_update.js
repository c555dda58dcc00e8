// Replacement of parts of a page by newer ones.

// Runs the task regularly while the page is visible. If it fails, for example without a connection, it runs again
// the next time.
export function poll(task, intervalMs) {
  let isRunning = false;
  const run = async () => {
    if (isRunning || document.hidden) return;
    isRunning = true;
    await task().catch(() => {});
    isRunning = false;
  };
  setInterval(run, intervalMs);
  document.addEventListener("visibilitychange", run);
  return run;
}

// Loads the page again and replaces the elements with these ids. Opened details stay open.
export async function replaceElements(first, ...others) {
  const details = document.querySelectorAll([first, ...others].map((id) => `#${id} details[open]`).join());
  const parents = [...details].map((element) => element.closest("[id]").id);
  await htmx.ajax("GET", location.pathname + location.search, {
    target: `#${first}`,
    select: `#${first}`,
    swap: "outerMorph",
    selectOOB: others.map((id) => `#${id}:outerHTML`).join(),
  });
  for (const id of parents) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
}
