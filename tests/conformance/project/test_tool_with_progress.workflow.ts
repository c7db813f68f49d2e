export const entrypoint = { title: "Progress", description: "Tells how far it is." };

const pause = () => new Promise((done) => setTimeout(done, 300));

export default async function (_input, flow) {
  flow.progress(0, 100);
  await pause();
  flow.progress(50, 100);
  await pause();
  flow.progress(100, 100);
  await pause();
  return "done";
}
