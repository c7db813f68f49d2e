// Where the diagram's boxes and lines are. Lanes are columns; edges between two lanes run through one bus, so that any
// number of members stays readable and laying out is linear.
import type { Lane, Member } from "./model";
import { folded } from "./model";

export const BOX = { width: 162, height: 46, columnStep: 186, rowStep: 56, left: 20, top: 58, bus: 12 } as const;

export interface Box {
  key: string;
  x: number;
  y: number;
  lane: number;
  row: number;
  member?: Member;
  completed?: number;
}
export interface EdgeSet {
  /** path data of lines to what has started, and to what hasn't */ solid: string;
  dashed: string;
  arrows: string;
  dashedArrows: string;
}
export interface Layout {
  boxes: Box[];
  laneX: number[];
  edges: EdgeSet;
  width: number;
  height: number;
  byKey: Map<string, Box>;
}

const notStarted = (box: Box) =>
  box.member !== undefined && (box.member.status === "queued" || box.member.status === "skipped") && !box.member.node.startedAt;

/** Lays lanes out. Lanes whose key is in `open` show every member however many they are. */
export function layout(lanes: readonly Lane[], open: ReadonlySet<string>): Layout {
  const boxes: Box[] = [];
  const columns: Box[][] = [];
  const laneX: number[] = [];
  let height = 0;
  lanes.forEach((lane, index) => {
    const x = BOX.left + index * BOX.columnStep;
    laneX.push(x);
    const { shown, completed } = open.has(lane.key) ? { shown: lane.members, completed: [] } : folded(lane);
    const column: Box[] = [];
    const add = (box: Omit<Box, "x" | "y" | "lane" | "row">) => {
      const row = column.length;
      column.push({ ...box, x, y: BOX.top + row * BOX.rowStep, lane: index, row });
    };
    if (completed.length > 0) add({ key: `fold:${lane.key}`, completed: completed.length });
    for (const member of shown) add({ key: `n:${member.node.id}`, member });
    columns.push(column);
    boxes.push(...column);
    height = Math.max(height, BOX.top + column.length * BOX.rowStep);
  });
  const width = BOX.left * 2 + Math.max(0, lanes.length - 1) * BOX.columnStep + BOX.width;
  return { boxes, laneX, edges: edges(columns), width, height: height + 20, byKey: new Map(boxes.map((box) => [box.key, box])) };
}

function edges(columns: readonly Box[][]): EdgeSet {
  const solid: string[] = [];
  const dashed: string[] = [];
  const arrows: string[] = [];
  const dashedArrows: string[] = [];
  const filled = columns.filter((column) => column.length > 0);
  for (let index = 0; index + 1 < filled.length; index += 1) {
    const [from, to] = [filled[index] ?? [], filled[index + 1] ?? []];
    const out = (from[0]?.x ?? 0) + BOX.width;
    const bus = out + BOX.bus;
    const into = to[0]?.x ?? 0;
    const middle = (box: Box) => box.y + BOX.height / 2;
    const reached = to.some((box) => !notStarted(box));
    let [solidEnd, dashedEnd] = [-Infinity, -Infinity];
    let [solidTop, dashedTop] = [Infinity, Infinity];
    const reach = (isDashed: boolean, y: number) => {
      if (isDashed) {
        dashedEnd = Math.max(dashedEnd, y);
        dashedTop = Math.min(dashedTop, y);
      } else {
        solidEnd = Math.max(solidEnd, y);
        solidTop = Math.min(solidTop, y);
      }
    };
    for (const box of from) {
      // A line leaves solid from what is done, and the bus is solid as soon as something behind it began.
      const isDone = box.completed !== undefined || box.member?.status === "success";
      (isDone || (reached && !notStarted(box)) ? solid : dashed).push(`M${out} ${middle(box)}H${bus}`);
      reach(!reached || notStarted(box), middle(box));
    }
    for (const box of to) {
      const isDashed = notStarted(box);
      const y = middle(box);
      (isDashed ? dashed : solid).push(`M${bus} ${y}H${into - 5}`);
      (isDashed ? dashedArrows : arrows).push(`M${into - 6} ${y - 3.5}l5 3.5l-5 3.5z`);
      reach(isDashed, y);
    }
    if (solidEnd > solidTop) solid.push(`M${bus} ${solidTop}V${solidEnd}`);
    // The dashed part of the bus only goes on where the solid part doesn't already lie.
    if (dashedEnd > -Infinity) {
      const begin = solidEnd > -Infinity && dashedTop >= solidTop ? Math.min(solidEnd, dashedEnd) : dashedTop;
      const end = dashedEnd;
      if (end > begin) dashed.push(`M${bus} ${begin}V${end}`);
      if (solidTop < Infinity && dashedTop < solidTop) dashed.push(`M${bus} ${dashedTop}V${solidTop}`);
    }
  }
  return { solid: solid.join(""), dashed: dashed.join(""), arrows: arrows.join(""), dashedArrows: dashedArrows.join("") };
}

export interface View {
  x: number;
  y: number;
  scale: number;
}
/** Zoom is relative to the text size, so the limits leave room for large text. */
export const SCALES = { least: 0.1, most: 4 } as const;

/** The boxes that lie in the window of the canvas, with some room around. */
export function visible(boxes: readonly Box[], view: View, width: number, height: number, room = 120): Box[] {
  const left = (-view.x - room) / view.scale;
  const top = (-view.y - room) / view.scale;
  const right = (width - view.x + room) / view.scale;
  const bottom = (height - view.y + room) / view.scale;
  return boxes.filter((box) => box.x + BOX.width >= left && box.x <= right && box.y + BOX.height >= top && box.y <= bottom);
}

/** Zooms around a point of the canvas. */
export function zoomAt(view: View, factor: number, x: number, y: number): View {
  const scale = Math.min(SCALES.most, Math.max(SCALES.least, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
}

/** Pixels of the plan that stay in sight however far one pulls. */
const STAYS = 120;

/** The view, pulled back as far as it would show nothing but the ground. */
export function hold(view: View, plan: { width: number; height: number }, width: number, height: number): View {
  if (width === 0 || height === 0) return view;
  const within = (at: number, room: number, length: number) => Math.min(room - STAYS, Math.max(STAYS - length * view.scale, at));
  return { scale: view.scale, x: within(view.x, width, plan.width), y: within(view.y, height, plan.height) };
}

/** Shows everything, never larger than life nor so small that nothing can be told apart. */
export function fit(plan: { width: number; height: number }, width: number, height: number, life = 1): View {
  const scale = Math.max(SCALES.least, life / 4, Math.min(life, width / Math.max(1, plan.width), height / Math.max(1, plan.height)));
  return { scale, x: Math.max(0, (width - plan.width * scale) / 2), y: 0 };
}

/** Pixels at the foot of the canvas that its tools take. */
const TOOLS = 44;

/** Moves the view just enough that a box lies inside. */
export function reveal(view: View, box: Box, width: number, height: number, room = 24): View {
  const x = box.x * view.scale + view.x;
  const y = box.y * view.scale + view.y;
  const [w, h] = [BOX.width * view.scale, BOX.height * view.scale];
  let { x: dx, y: dy } = view;
  if (x < room) dx += room - x;
  else if (x + w > width - room) dx -= x + w - (width - room);
  const head = 52 * view.scale;
  if (y < room + head) dy += room + head - y;
  else if (y + h > height - room - TOOLS) dy -= y + h - (height - room - TOOLS);
  return { ...view, x: dx, y: dy };
}

/** The neighbour of a box in a direction: along its lane, or across an edge. */
export function neighbour(plan: Layout, key: string, direction: "up" | "down" | "left" | "right"): Box | undefined {
  const box = plan.byKey.get(key);
  if (!box) return plan.boxes[0];
  if (direction === "up" || direction === "down") {
    const row = box.row + (direction === "up" ? -1 : 1);
    return plan.boxes.find((other) => other.lane === box.lane && other.row === row);
  }
  const step = direction === "left" ? -1 : 1;
  for (let lane = box.lane + step; lane >= 0 && lane < plan.laneX.length; lane += step) {
    const column = plan.boxes.filter((other) => other.lane === lane);
    if (column.length > 0) return column[Math.min(box.row, column.length - 1)];
  }
  return undefined;
}
