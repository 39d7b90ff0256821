// Held keys, gamepad and the pad on the page, sent to the viewer while they last. Runs before viser's own script.
(() => {
  "use strict";
  const STEER = new Set(["KeyW", "KeyA", "KeyS", "KeyD", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);
  const steering = document.documentElement.dataset.steer === "1";
  const phone = matchMedia("(max-width: 36em)").matches;

  // ---- The input channel: every message is a whole state, so a lost one does no harm.
  const held = new Set();
  let stick = [0, 0]; // of a gamepad
  let thumb = [0, 0]; // of the pad on the page
  let socket = null;
  let last = "";
  let wait = 500;

  const address = () => {
    const token = new URLSearchParams(location.search).get("token");
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    return `${scheme}//${location.host}/input${token ? `?token=${encodeURIComponent(token)}` : ""}`;
  };
  const round = (v) => Math.round(Math.max(-1, Math.min(1, v || 0)) * 50) / 50;
  const send = () => {
    if (!socket || socket.readyState !== WebSocket.OPEN) return;
    const pad = [round(stick[0] + thumb[0]), round(stick[1] + thumb[1])];
    const text = JSON.stringify({ keys: [...held].sort(), pad });
    if (text === last) return;
    last = text;
    socket.send(text);
  };
  const connect = () => {
    socket = new WebSocket(address());
    socket.onopen = () => { wait = 500; last = ""; send(); };
    socket.onclose = () => { socket = null; setTimeout(connect, wait); wait = Math.min(2 * wait, 8000); };
  };

  // ---- Keys. In the capture phase, since WASD would otherwise move viser's camera; Shift stays viser's.
  const typing = (target) =>
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
  const onKey = (event, down) => {
    if (!STEER.has(event.code) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (down && typing(event.target)) return;
    if (down) held.add(event.code); else held.delete(event.code);
    event.stopImmediatePropagation();
    event.preventDefault();
    send();
  };
  const letGo = () => { held.clear(); stick = [0, 0]; thumb = [0, 0]; send(); };

  // ---- The left stick of any gamepad, read only while one is plugged in.
  let polling = false;
  const poll = () => {
    const found = [...navigator.getGamepads()].find((g) => g && g.connected);
    stick = found ? [found.axes[0], -found.axes[1]] : [0, 0];
    send();
    polling = Boolean(found);
    if (polling) requestAnimationFrame(poll);
  };

  // ---- A pad to steer with mouse or thumb.
  const addPad = () => {
    const pad = document.createElement("div");
    pad.id = "jostle-pad";
    pad.title = "Steer: drag the knob";
    const knob = pad.appendChild(document.createElement("div"));
    let pointer = null;
    const move = (event) => {
      const box = pad.getBoundingClientRect();
      const reach = box.width / 2;
      let x = (event.clientX - box.left - reach) / (0.7 * reach);
      let y = (event.clientY - box.top - reach) / (0.7 * reach);
      const length = Math.hypot(x, y);
      if (length > 1) { x /= length; y /= length; }
      knob.style.transform = `translate(${0.55 * x * reach}px, ${0.55 * y * reach}px)`;
      thumb = [x, -y];
      send();
    };
    const end = (event) => {
      if (event.pointerId !== pointer) return;
      pointer = null;
      knob.style.transform = "";
      thumb = [0, 0];
      send();
    };
    pad.addEventListener("pointerdown", (event) => {
      pointer = event.pointerId;
      pad.setPointerCapture(pointer);
      event.preventDefault();
      move(event);
    });
    pad.addEventListener("pointermove", (event) => { if (event.pointerId === pointer) move(event); });
    pad.addEventListener("pointerup", end);
    pad.addEventListener("pointercancel", end);
    document.body.appendChild(pad);
  };

  if (steering) {
    addEventListener("keydown", (event) => onKey(event, true), true);
    addEventListener("keyup", (event) => onKey(event, false), true);
    addEventListener("blur", letGo);
    document.addEventListener("visibilitychange", () => { if (document.hidden) letGo(); });
    addEventListener("gamepadconnected", () => { if (!polling) poll(); });
    addEventListener("DOMContentLoaded", addPad);
    connect();
  }

  // ---- On a phone viser's panel opens over most of the scene, sometimes more than once while the page starts: close
  // it until a person touches the page. Its handle has buttons only while it is open.
  if (phone) {
    let closed = 0; // when it was last closed, in milliseconds
    const close = () => {
      const panel = [...document.querySelectorAll("div")].find(
        (d) => d.style.position === "fixed" && d.style.maxHeight === "60%");
      const handle = panel && [...panel.querySelectorAll("div")].find((d) => d.style.cursor === "pointer");
      if (!handle || !handle.querySelector("button") || performance.now() - closed < 400) return;
      closed = performance.now();
      handle.click();
    };
    const watching = setInterval(close, 100);
    const stop = () => clearInterval(watching);
    addEventListener("pointerdown", stop, { capture: true, once: true });
    setTimeout(stop, 20000);
  }
})();
