// Small changes to viser's own program, made as it unpacks. Each is one exact piece of the pinned version:
// - Every page, and every round of a saved one, begins with lights and an environment map that would flash before ours.
// - A drag asks to cancel an event that cannot be cancelled, which does nothing but log an error.
// - Letters are drawn for 5 ms a frame; on a slow screen, where that is one letter, names took many seconds to appear.
function jostleStudio(code) {
  "use strict";
  const changes = [
    ["enableDefaultLights:!0,enableDefaultLightsShadows:!0,environmentMap:null",
      'enableDefaultLights:!1,enableDefaultLightsShadows:!1,environmentMap:{type:"EnvironmentMapMessage",hdri_data:null}'],
    [",s&&t.nativeEvent.preventDefault())", ")"],
    ["(a(performance.now()+_fe),n.dirtyGroups", "(a(performance.now()+250),n.dirtyGroups"],
  ];
  const page = document.documentElement.dataset;
  for (const [theirs, ours] of changes) {
    if (!code.includes(theirs)) continue;
    code = code.replace(theirs, () => ours);
    page.studio = String(Number(page.studio || 0) + 1);
  }
  return code;
}
