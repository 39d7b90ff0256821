// Held keys and gamepad, sent to the viewer while they last. Runs before viser's page and leaves Shift to it.
(() => {
  "use strict";
  const STEER = new Set(["KeyW", "KeyA", "KeyS", "KeyD", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);
  const held = new Set();
  let pad = [0, 0];
  let socket = null;
  let last = "";
  let wait = 500;

  const address = () => {
    const token = new URLSearchParams(location.search).get("token");
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    return `${scheme}//${location.host}/input${token ? `?token=${encodeURIComponent(token)}` : ""}`;
  };

  const send = (again = false) => {
    if (!socket || socket.readyState !== WebSocket.OPEN) return;
    const text = JSON.stringify({ keys: [...held].sort(), pad });
    if (text === last && !again) return;
    last = text;
    socket.send(text);
  };

  const connect = () => {
    socket = new WebSocket(address());
    socket.onopen = () => { wait = 500; last = ""; send(); };
    socket.onclose = () => { socket = null; setTimeout(connect, wait); wait = Math.min(2 * wait, 8000); };
  };

  const typing = (target) =>
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

  // Capture phase: WASD would otherwise move viser's camera.
  const onKey = (event, down) => {
    if (!STEER.has(event.code) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (down && typing(event.target)) return;
    if (!document.documentElement.dataset.steer) return;
    if (down) held.add(event.code); else held.delete(event.code);
    event.stopImmediatePropagation();
    event.preventDefault();
    send();
  };
  addEventListener("keydown", (event) => onKey(event, true), true);
  addEventListener("keyup", (event) => onKey(event, false), true);
  const letGo = () => { held.clear(); pad = [0, 0]; send(); };
  addEventListener("blur", letGo);
  document.addEventListener("visibilitychange", () => { if (document.hidden) letGo(); });

  // The left stick of any gamepad, read only while one is plugged in.
  let polling = false;
  const poll = () => {
    const found = [...navigator.getGamepads()].find((g) => g && g.connected);
    if (!found) { polling = false; pad = [0, 0]; send(); return; }
    const round = (v) => Math.round((v || 0) * 50) / 50;
    pad = [round(found.axes[0]), round(-found.axes[1])];
    send();
    requestAnimationFrame(poll);
  };
  addEventListener("gamepadconnected", () => { if (!polling) { polling = true; poll(); } });

  connect();

  // On a phone viser's panel opens over most of the scene: close it once, as soon as it is there.
  if (matchMedia("(max-width: 36em)").matches) {
    const watch = new MutationObserver(() => {
      const panel = [...document.querySelectorAll("div")].find(
        (d) => d.style.position === "fixed" && d.style.maxHeight === "60%");
      const handle = panel && [...panel.querySelectorAll("div")].find((d) => d.style.cursor === "pointer");
      if (!handle) return;
      watch.disconnect();
      handle.click();
    });
    watch.observe(document, { childList: true, subtree: true });
  }
})();
