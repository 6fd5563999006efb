// The tests beside the code, without the end-to-end ones.
import all from '../../jest.config.mjs';

export default { ...all, rootDir: '../..', testMatch: ['**/*.test.ts'] };
