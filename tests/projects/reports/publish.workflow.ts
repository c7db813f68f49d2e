export const entrypoint = { title: "Publish", description: "Publishes the page.", params: {} };

export default async function (input, flow) {
  const done = await flow.exec("/usr/bin/printf", ["published %s", "the page"]);
  return { said: done.stdout };
}
