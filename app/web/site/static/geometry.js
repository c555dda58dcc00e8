// Positions and boxes in pixels.

export const clamp = (value, low, high) => Math.max(low, Math.min(value, high));

export function createBox(x, y, halfWidth, halfHeight = halfWidth) {
  return { x, y, left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
}

// Whether less than the margin lies between two boxes.
export function overlaps(a, b, margin = 0) {
  return a.left - b.right < margin && b.left - a.right < margin
    && a.top - b.bottom < margin && b.top - a.bottom < margin;
}

// Boxes around points at these shares of a line's length.
export function coverLine(start, end, shares, ...halfSizes) {
  const interpolate = d3.interpolateNumberArray(start, end);
  return shares.map((share) => createBox(...interpolate(share), ...halfSizes));
}
