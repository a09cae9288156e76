package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/strictjson"
)

func (p *Plan) work(format string, args ...any) string {
	return shardset.WorkName(p.ID(), fmt.Sprintf(format, args...))
}

// PlanName is the name of the plan among the working files.
const PlanName = "plan.json"

// saveWait is the time for which Save waits for the lock of the output.
var saveWait = 2 * time.Second

// Save writes the plan to the output, unless it is there, and records which set is there, for Finish. It returns an
// error if the output has objects that belong to no sharded set. From a Conditional Store it removes the shards that no
// manifest names, so a plan there that is not finished must build its shards again. If out is a Locker, the error wraps
// filter.ErrLocked if another process builds or changes a set there and does not end within two seconds.
func (p *Plan) Save(ctx context.Context, out Store) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if there, err := readAll(ctx, out, p.work(PlanName), maxPlan); err == nil && bytes.Equal(there, b) {
		return nil
	}
	err = locked(ctx, out, saveWait, func() error {
		if err := foreign(ctx, out); err != nil {
			return err
		}
		if err := clearShards(ctx, out); err != nil {
			return err
		}
		now, err := manifestSum(ctx, out)
		if err == nil {
			err = put(ctx, out, p.work(replacesName), []byte(now))
		}
		if err != nil {
			return err
		}
		return put(ctx, out, p.work(PlanName), b)
	})
	if errors.Is(err, filter.ErrLocked) {
		err = fmt.Errorf("%w; wait for it, or name another output", err)
	}
	return err
}

func put(ctx context.Context, out Store, name string, b []byte) error {
	return out.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// ParsePlan returns the plan in JSON. The error wraps filter.ErrConfig if the plan contradicts itself. formats are
// the formats that the plan may name and keyio does not have. Lists of more than MaxObjects and MaxRanges are not read.
func ParsePlan(b []byte, formats Formats) (*Plan, error) {
	return parsePlan(b, formats, MaxObjects, MaxRanges)
}

func parsePlan(b []byte, formats Formats, objects, ranges int) (*Plan, error) {
	j := planText{Plan: &Plan{formats: formats}, limits: map[string]int{"objects": objects, "ranges": ranges}}
	if err := strictjson.Unmarshal(b, &j); err != nil {
		return nil, fmt.Errorf("reading a plan: %w", err)
	}
	return j.Plan, j.check()
}

// planText is a plan in JSON. The memory for lists above the limits is never taken.
type planText struct {
	*Plan
	limits map[string]int // largest number of values by the name of the list
}

func (p *planText) MaxItems(list string) int { return p.limits[list] }

// Plans returns the ids of the plans in an output, sorted. Work on them has not finished.
func Plans(ctx context.Context, out Source) (ids []string, err error) {
	for o, err := range out.List(ctx, shardset.WorkPrefix) {
		if err != nil {
			return nil, err
		}
		if id, file, ok := shardset.CutWork(o.Name); ok && file == PlanName {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// ErrNoPlan means that an output has no plan.
var ErrNoPlan = errors.New("no plan")

// ReadPlan reads a plan from the output. With an empty id it reads the only one; the error wraps ErrNoPlan if there is
// none.
func ReadPlan(ctx context.Context, out Source, id string, formats Formats) (*Plan, error) {
	if id == "" {
		ids, err := Plans(ctx, out)
		switch {
		case err != nil:
			return nil, err
		case len(ids) == 0:
			return nil, ErrNoPlan
		case len(ids) > 1:
			return nil, fmt.Errorf("there are %d plans: choose one of %s", len(ids), strings.Join(ids, ", "))
		}
		id = ids[0]
	}
	b, err := readAll(ctx, out, shardset.WorkName(id, PlanName), maxPlan)
	if err != nil {
		return nil, err
	}
	p, err := ParsePlan(b, formats)
	if err == nil && p.ID() != id {
		err = fmt.Errorf("plan %s was edited: it has the contents of plan %s", id, p.ID())
	}
	return p, err
}
