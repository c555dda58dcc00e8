// A slider that can move by itself: whoever moves it, `show` is told where it stands, from 0 to 1.

export const STEPS = 1000; // of the slider
export const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const SLOWLY = 20; // moments for those who want little motion

export function player(button, slider, words, lasts, show) {
  let running = null;

  function set(share) {
    slider.value = Math.round(STEPS * share);
    show(share);
  }

  function stop() {
    cancelAnimationFrame(running);
    running = null;
    button.textContent = words.play;
  }

  function play() {
    const began = performance.now() - (slider.value >= STEPS ? 0 : slider.value / STEPS) * lasts;
    let last = null;
    button.textContent = words.pause;
    const frame = (now) => {
      const share = Math.min(1, Math.max(0, (now - began) / lasts));
      const seen = STILL.matches ? Math.floor(share * SLOWLY) / SLOWLY : share;
      if (seen !== last) set(seen);
      last = seen;
      if (share >= 1 || !slider.isConnected) stop();
      else running = requestAnimationFrame(frame);
    };
    running = requestAnimationFrame(frame);
  }

  button.onclick = () => (running === null ? play() : stop());
  slider.addEventListener("input", () => { stop(); show(slider.value / STEPS); });
  return { set, play };
}
