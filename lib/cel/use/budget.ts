// The cost that the expressions of one object or policy may spend together.

export const budgetExhaustedMessage =
  'validation failed due to running out of cost budget, no further validation rules will be run';

export class Budget {
  #remaining: number;

  constructor(amount: number) {
    this.#remaining = amount;
  }

  /** What is left; -1 when it was exhausted. */
  get remaining(): number {
    return this.#remaining;
  }

  /**
   * Takes `cost`; false when that is more than what is left: the budget is then exhausted.
   */
  spend(cost: number): boolean {
    if (cost > this.#remaining) {
      this.#remaining = -1;
      return false;
    }
    this.#remaining -= cost;
    return true;
  }

  exhaust(): void {
    this.#remaining = -1;
  }
}
