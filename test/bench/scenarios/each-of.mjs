/** Does the same with every configuration at once; one that fails is told and left out of the rest. */
export async function eachOf(children, act) {
  const names = Object.keys(children);
  await Promise.all(
    names.map(async (name) => {
      try {
        await act(children[name], name);
      } catch (error) {
        console.error(`${name} is left out: ${error.message}`);
        delete children[name];
      }
    }),
  );
}
