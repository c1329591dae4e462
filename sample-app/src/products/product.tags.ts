/** On all that shows the name of a category: the products in it, and their lists. */
export const categoryTag = (name: string): string => `category:${name}`;

/** On the lists of a category. */
export const listTag = (category: string): string => `list:${category}`;

/** On the lists of all products, and on the list of categories. */
export const WHOLE_LIST = 'list';

/** On the lists that a product is on, before and after its change. */
export const listsOf = (...categories: string[]): string[] => [WHOLE_LIST, ...categories.map(listTag)];
