// Two pens with the same strokes: one draws on a canvas, the other writes SVG. What is drawn with a pen looks the
// same on the screen, in a file and on paper. Units: CSS pixels.

/** A pen for a canvas, whose context has `ratio` pixels to a CSS pixel. */
export function canvasPen(context, ratio) {
  return {
    path(d, style) {
      context.save();
      context.scale(ratio, ratio);
      context.globalAlpha = style.alpha ?? 1;
      const path = new Path2D(d);
      if (style.fill) {
        context.fillStyle = style.fill;
        context.fill(path);
      }
      if (style.stroke) {
        context.strokeStyle = style.stroke;
        context.lineWidth = style.width ?? 1;
        context.setLineDash(style.dash ?? []);
        context.lineJoin = "round";
        context.stroke(path);
      }
      context.restore();
    },
    text(x, y, words, style) {
      context.save();
      context.scale(ratio, ratio);
      context.font = `${style.size ?? 11}px ${FONT}`;
      context.textAlign = { start: "left", middle: "center", end: "right" }[style.anchor ?? "start"];
      context.fillStyle = style.fill;
      context.translate(x, y);
      if (style.turn) context.rotate((style.turn * Math.PI) / 180);
      context.fillText(words, 0, 0);
      context.restore();
    },
  };
}

/** A pen that writes elements of SVG into `out`. */
export function svgPen(out) {
  return {
    path(d, style) {
      const more = [
        style.stroke ? `stroke="${style.stroke}" stroke-width="${style.width ?? 1}" stroke-linejoin="round"` : "",
        style.dash?.length ? `stroke-dasharray="${style.dash.join(" ")}"` : "",
        style.alpha !== undefined ? `opacity="${style.alpha}"` : "",
      ];
      out.push(`<path d="${d}" fill="${style.fill ?? "none"}" ${more.filter(Boolean).join(" ")}/>`);
    },
    text(x, y, words, style) {
      const turn = style.turn ? ` transform="rotate(${style.turn} ${x} ${y})"` : "";
      const weight = style.bold ? ' font-weight="600"' : "";
      out.push(
        `<text x="${x}" y="${y}" font-size="${style.size ?? 11}" text-anchor="${style.anchor ?? "start"}" ` +
          `fill="${style.fill}"${weight}${turn}>${escaped(words)}</text>`,
      );
    },
  };
}

export const FONT = 'ui-sans-serif, system-ui, "Helvetica Neue", sans-serif';

/** Text as it stands inside an element. */
export function escaped(words) {
  return String(words).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
