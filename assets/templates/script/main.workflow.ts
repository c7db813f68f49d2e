// One entrypoint, served as one tool. `input` holds the parameters declared here, checked and with
// defaults filled in; what the function returns becomes the tool's output.
export const entrypoint = {
  title: "Main",
  description: "Greets somebody. Say here what your workflow does.",
  params: {
    name: { type: "string", required: true, description: "Who to greet" },
    times: { type: "integer", default: 1, minimum: 1, maximum: 10, description: "How often" },
  },
};

export default async function (input, flow) {
  flow.phase("Greet");
  const greetings: string[] = [];
  for (let done = 0; done < input.times; done++) {
    greetings.push(`Hello, ${input.name}!`);
    flow.progress(done + 1, input.times);
  }
  return { greeting: greetings.join(" ") };
}
