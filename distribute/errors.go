package distribute

import "github.com/bloomery/bloomery/internal/steps"

// Errors of the steps, besides errors of packages bloomery and filter and of the Store.
var (
	// ErrChanged means that an input is not the one that the plan was made for. Make a new plan.
	ErrChanged = steps.ErrChanged
	// ErrMissing means that ranges or shards are not finished. The error names the first ten. Run them, or
	// all again: those that are finished keep what is there. Then run the step again.
	ErrMissing = steps.ErrMissing
	// ErrNoPlan means that the output has no such plan, or not any more: its set is finished, or the set of
	// another plan.
	ErrNoPlan = steps.ErrNoPlan
	// ErrSetChanged means that the set in the output is not the one that was there when the plan was saved.
	// Finish would lose that change. Make a new plan, or remove the file that the error names.
	ErrSetChanged = steps.ErrSetChanged
)
