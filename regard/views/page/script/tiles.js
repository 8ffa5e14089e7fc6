// Tiles of weights on a canvas: by WebGL2, or by a 2-D canvas where there is none.

import { LEAST, place, placeBothWays } from "./colour.js";

/**
 * @typedef {{key: string, data: Float32Array, width: number, height: number}} Tile
 * @typedef {{tile: Tile, x: number, y: number, w: number, h: number}} Placed in canvas pixels
 * @typedef {{table: Uint8Array, most: number, log: boolean, signed: boolean}} Scale
 */

const VERTEX = `#version 300 es
uniform vec4 box; uniform vec2 size; out vec2 at;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  at = corner;
  vec2 p = (box.xy + corner * box.zw) / size * 2.0 - 1.0;
  gl_Position = vec4(p.x, -p.y, 0.0, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float; precision highp sampler2D;
uniform sampler2D weights; uniform sampler2D colours;
uniform float most; uniform float least; uniform int mode; in vec2 at; out vec4 colour;
void main() {
  ivec2 size = textureSize(weights, 0);
  float w = texelFetch(weights, clamp(ivec2(at * vec2(size)), ivec2(0), size - 1), 0).r;
  float t = most > 0.0 ? clamp(w / most, 0.0, 1.0) : 0.0;
  if (mode == 1) t = w <= least ? 0.0 : 1.0 - log(w / most) / log(least / most);
  if (mode == 2) t = most > 0.0 ? clamp(0.5 + 0.5 * w / most, 0.0, 1.0) : 0.5;
  colour = texelFetch(colours, ivec2(int(t * 255.0 + 0.5), 0), 0);
}`;
const MOST_TILES = 400;

/** Whichever the browser has. @param {HTMLCanvasElement} canvas @param {boolean} plain */
export function makeTiles(canvas, plain) {
  const gl = plain
    ? null
    : canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true });
  return gl ? new GlTiles(gl) : new PlainTiles(/** @type {any} */ (canvas.getContext("2d")));
}

class GlTiles {
  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.name = "WebGL2";
    this.program = this.link();
    this.names = Object.fromEntries(
      ["box", "size", "weights", "colours", "most", "least", "mode"].map((name) => [
        name,
        gl.getUniformLocation(this.program, name),
      ]),
    );
    /** @type {Map<string, WebGLTexture>} */
    this.textures = new Map();
    this.colours = gl.createTexture();
    gl.bindVertexArray(gl.createVertexArray());
  }

  link() {
    const { gl } = this;
    const program = /** @type {WebGLProgram} */ (gl.createProgram());
    for (const [kind, source] of /** @type {[number, string][]} */ ([
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ])) {
      const shader = /** @type {WebGLShader} */ (gl.createShader(kind));
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
      throw new Error(gl.getProgramInfoLog(program) ?? "the shaders do not link");
    }
    return program;
  }

  /** @param {Tile} tile */
  texture(tile) {
    const { gl } = this;
    let texture = this.textures.get(tile.key);
    if (!texture) {
      if (this.textures.size > MOST_TILES) this.clear();
      texture = /** @type {WebGLTexture} */ (gl.createTexture());
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.texImage2D(
        gl.TEXTURE_2D,
        0,
        gl.R32F,
        tile.width,
        tile.height,
        0,
        gl.RED,
        gl.FLOAT,
        tile.data,
      );
      this.sharp();
      this.textures.set(tile.key, texture);
    }
    return texture;
  }

  sharp() {
    const { gl } = this;
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
      gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    }
  }

  /** @param {Placed[]} placed @param {Scale} scale @param {string} [back] */
  draw(placed, scale, back) {
    const { gl, names } = this;
    const { width, height } = gl.canvas;
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.colours);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, scale.table);
    this.sharp();
    gl.uniform1i(names.weights, 0);
    gl.uniform1i(names.colours, 1);
    gl.uniform1f(names.most, scale.most);
    gl.uniform1f(names.least, LEAST);
    gl.uniform1i(names.mode, scale.signed ? 2 : scale.log ? 1 : 0);
    gl.uniform2f(names.size, width, height);
    gl.activeTexture(gl.TEXTURE0);
    for (const { tile, x, y, w, h } of placed) {
      gl.bindTexture(gl.TEXTURE_2D, this.texture(tile));
      gl.uniform4f(names.box, x, y, w, h);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }

  clear() {
    for (const texture of this.textures.values()) this.gl.deleteTexture(texture);
    this.textures.clear();
  }
}

class PlainTiles {
  /** @param {CanvasRenderingContext2D} context */
  constructor(context) {
    this.context = context;
    this.name = "2-D canvas";
    /** @type {Map<string, HTMLCanvasElement>} */
    this.made = new Map();
    this.scale = "";
  }

  /** @param {Placed[]} placed @param {Scale} scale */
  draw(placed, scale) {
    const { context } = this;
    const said = [scale.most, scale.log, scale.signed, scale.table.join()].join();
    if (said !== this.scale || this.made.size > MOST_TILES) this.clear();
    this.scale = said;
    context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    context.imageSmoothingEnabled = false;
    for (const { tile, x, y, w, h } of placed)
      context.drawImage(this.image(tile, scale), x, y, w, h);
  }

  /** @param {Tile} tile @param {Scale} scale */
  image(tile, scale) {
    let canvas = this.made.get(tile.key);
    if (!canvas) {
      canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [tile.width, tile.height];
      const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
      const image = context.createImageData(tile.width, tile.height);
      tile.data.forEach((weight, i) => {
        const at = scale.signed
          ? placeBothWays(weight, scale.most)
          : place(weight, scale.most, scale.log);
        const from = 4 * Math.round(255 * at);
        image.data.set(scale.table.subarray(from, from + 4), 4 * i);
      });
      context.putImageData(image, 0, 0);
      this.made.set(tile.key, canvas);
    }
    return canvas;
  }

  clear() {
    this.made.clear();
  }
}
