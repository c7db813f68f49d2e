export const entrypoint = {
  title: "Greet",
  description: "Greets somebody, and remembers how often.",
  params: {
    name: { type: "string", required: true, description: "Who to greet" },
    tone: { type: "string", options: ["plain", "warm"], default: "plain", description: "How to say it" },
  },
};

interface Input {
  name: string;
  tone: "plain" | "warm";
}

export default async function (input: Input, flow: any) {
  flow.phase("Remember");
  const times = await flow.step("Count", async () => {
    const before = (await flow.kv.get(`greeted:${input.name}`)) ?? 0;
    await flow.kv.set(`greeted:${input.name}`, before + 1);
    return before + 1;
  });
  flow.phase("Greet");
  console.log(`greeting ${input.name} for the ${times}. time`);
  const word = input.tone === "warm" ? "How lovely to see you" : "Hello";
  return { greeting: `${word}, ${input.name}`, times };
}
