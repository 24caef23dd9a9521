// What the page uses of OGL. Bundled by: esbuild ogl.entry.js --bundle --minify --format=iife --global-name=OGL
export { Renderer } from "ogl/src/core/Renderer.js";
export { Geometry } from "ogl/src/core/Geometry.js";
export { Program } from "ogl/src/core/Program.js";
export { Mesh } from "ogl/src/core/Mesh.js";
export { Texture } from "ogl/src/core/Texture.js";
