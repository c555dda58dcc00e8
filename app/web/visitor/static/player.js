// A slider that a button can play. Every move of the slider calls show with a share from 0 to 1.

import { clamp } from "./geometry.js";

export const SLIDER_STEPS = 1000;
export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const REDUCED_MOTION_FRAMES = 20;

export function createPlayer(button, slider, words, durationMs, show) {
  let request = null;

  function set(share) {
    slider.value = Math.round(SLIDER_STEPS * share);
    show(share);
  }

  function stop() {
    cancelAnimationFrame(request);
    request = null;
    button.textContent = words.play;
  }

  function play() {
    const start = slider.value >= SLIDER_STEPS ? 0 : slider.value / SLIDER_STEPS;
    const startedAt = performance.now() - start * durationMs;
    let lastShare = null;
    button.textContent = words.pause;
    const showFrame = (now) => {
      const elapsed = clamp((now - startedAt) / durationMs, 0, 1);
      const frames = REDUCED_MOTION_FRAMES;
      const share = reducedMotion.matches ? Math.floor(elapsed * frames) / frames : elapsed;
      if (share !== lastShare) set(share);
      lastShare = share;
      if (elapsed >= 1 || !slider.isConnected) stop();
      else request = requestAnimationFrame(showFrame);
    };
    request = requestAnimationFrame(showFrame);
  }

  button.onclick = () => (request === null ? play() : stop());
  slider.addEventListener("input", () => {
    stop();
    show(slider.value / SLIDER_STEPS);
  });
  return { set, play };
}
