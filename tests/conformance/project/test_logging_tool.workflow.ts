export const entrypoint = { title: "Log", description: "Writes three lines to its log." };

const pause = () => new Promise((done) => setTimeout(done, 50));

export default async function () {
  // Only warnings and errors are forwarded to clients.
  console.warn("Tool execution started");
  await pause();
  console.warn("Tool processing data");
  await pause();
  console.warn("Tool execution completed");
  return "done";
}
