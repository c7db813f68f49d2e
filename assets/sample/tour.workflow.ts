export const entrypoint = {
  title: "Tour",
  description: "Goes through two short phases, and asks you one question.",
  params: {},
};

const GREETINGS = { plain: "Hello", warm: "How lovely to see you" };

export default async function (_input: {}, flow: any) {
  flow.phase("Look around");
  const times = await flow.step("Count the tours", async () => {
    const before = (await flow.kv.get("tours")) ?? 0;
    await flow.kv.set("tours", before + 1);
    return before + 1;
  });
  console.log(`this is tour ${times}`);

  flow.phase("Say hello");
  const { tone } = await flow.form({
    title: "How should it say hello?",
    message: "The run waits for you. Close the window, if you like: the question stays.",
    fields: {
      tone: {
        type: "string",
        title: "Tone",
        required: true,
        default: "plain",
        options: [
          { value: "plain", title: "Plain" },
          { value: "warm", title: "Warm" },
        ],
      },
    },
  });
  const greeting = await flow.step("Write it", async () => `${GREETINGS[tone as "plain" | "warm"]}, whoever you are`);
  console.log(greeting);
  return { greeting, tone, times };
}
