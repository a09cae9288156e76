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

func (p *Plan) workName(format string, args ...any) string {
	return shardset.WorkName(p.ID(), fmt.Sprintf(format, args...))
}

// PlanName is the name of the plan among the working files.
const PlanName = "plan.json"

// saveWait is the time for which Save waits for the lock of the output.
var saveWait = 2 * time.Second

// Save writes the plan to the output, unless it exists, and records the present set for Finish. It returns an error if
// the output has objects that belong to no sharded set. From a Conditional Store it removes the shards that no manifest
// names, so an unfinished plan there must build its shards again. If out is a Locker, the error wraps filter.ErrLocked
// if another process builds or changes a set there and does not end within two seconds.
func (p *Plan) Save(ctx context.Context, out Store) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if there, err := readAll(ctx, out, p.workName(PlanName), maxPlan); err == nil && bytes.Equal(there, b) {
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
			// The plan comes last: a plan without this record would replace any set.
			err = putObject(ctx, out, p.workName(replacesName), []byte(now))
		}
		if err != nil {
			return err
		}
		return putObject(ctx, out, p.workName(PlanName), b)
	})
	if errors.Is(err, filter.ErrLocked) {
		err = fmt.Errorf("%w; wait for it, or name another output", err)
	}
	return err
}

func putObject(ctx context.Context, out Store, name string, b []byte) error {
	return out.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// ParsePlan returns the plan in JSON. The error wraps filter.ErrConfig if the plan contradicts itself. formats are
// the formats that the plan may name and keyio does not have. Lists of more than mostItems values are not read.
func ParsePlan(b []byte, formats Formats) (*Plan, error) {
	p := &Plan{formats: formats}
	if err := strictjson.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("reading a plan: %w", err)
	}
	return p, p.check()
}

// MaxItems limits the lists of a plan that is read, and so their memory.
func (p *Plan) MaxItems(string) int { return mostItems }

// Plans returns the ids of the unfinished plans in an output, sorted.
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

// ReadPlan reads a plan from the output. With an empty id it reads the only plan; the error wraps ErrNoPlan if there is
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
