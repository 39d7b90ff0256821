// viser begins every page, and every round of a saved one, with lights and an environment map of its own, which would
// flash before ours. This takes them out of its program as it unpacks.
function jostleStudio(code) {
  "use strict";
  const theirs = "enableDefaultLights:!0,enableDefaultLightsShadows:!0,environmentMap:null";
  const ours = 'enableDefaultLights:!1,enableDefaultLightsShadows:!1,environmentMap:{type:"EnvironmentMapMessage",hdri_data:null}';
  if (!code.includes(theirs)) return code;
  document.documentElement.dataset.studio = "1";
  return code.replace(theirs, () => ours);
}
