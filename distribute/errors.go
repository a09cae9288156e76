package distribute

import "github.com/bloomery/bloomery/internal/steps"

// Errors of the steps, besides those of packages bloomery and filter and of the Store.
var (
	// ErrChanged means that an input is not the one that the plan was made for. Make a new plan.
	ErrChanged = steps.ErrChanged
	// ErrMissing means that ranges or shards are not finished, which the error names. Run them, then the step again.
	ErrMissing = steps.ErrMissing
	// ErrNoPlan means that the output has no plan, or none any more: its set is finished, or another one is.
	ErrNoPlan = steps.ErrNoPlan
	// ErrSetChanged means that the set in the output is not the one that was there when the plan was saved. Finish would
	// lose that change. Make a new plan, or remove the file that the error names.
	ErrSetChanged = steps.ErrSetChanged
)
