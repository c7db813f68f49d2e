import common from "./common";
import shell from "./shell";
import home from "./home";
import runs from "./runs";
import kit from "./kit";
import project from "./project";
import runform from "./runform";
import dock from "./dock";
import settings from "./settings";
import palette from "./palette";
import first from "./first";
import run from "./run";
import compare from "./compare";
import board from "./board";

const catalogue = { common, shell, home, runs, kit, project, runform, dock, settings, palette, first, run, compare, board };

export default catalogue;
