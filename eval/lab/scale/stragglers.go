package scale

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// scaleStragglers simulates a stage of equal tasks on workers, some of which are slow or get lost.
var scaleStragglers = experiment.Experiment{
	Name: "scale-stragglers", Source: "docs/measured/scale.md", Varies: "slow and lost workers, second attempts",
	Run: runStragglers, Seconds: 20,
}

// stage is a number of equal tasks and the workers that run them, one at a time. Times are in units of a task on a
// worker of normal speed.
type stage struct {
	tasks, workers int
	spread         float64 // standard deviation of the logarithm of the time of a task
	slow, by       float64 // share of the workers that are slow, and how many times as slow
	lost           float64 // losses of a worker a unit of time: its task begins again on another worker
	restart        float64 // time until a lost worker is replaced
	second         bool    // idle workers begin running tasks a second time; the first to end counts
}

// outcome is the time and work of a stage.
type outcome struct {
	time float64 // over the time without spread, slow or lost workers
	work float64 // work of all workers, divided by the work of all tasks
}

// attempt is a task on a worker, or a worker that is being replaced.
type attempt struct {
	worker, task int // task < 0: replaced
	start, end   float64
	done         bool // whether it ends with the task, not with the loss of the worker
	void         bool // another attempt has finished the task
}

type queue []*attempt

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].end < q[j].end }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*attempt)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// simulation is the state of one run.
type simulation struct {
	stage
	r       *rand.Rand
	now     float64
	running queue
	waiting []int        // tasks
	idle    []int        // workers
	factor  []float64    // factor of a worker's times
	tries   [][]*attempt // running ones of a task
	left    int
	work    float64
}

// run simulates the stage once.
func (s stage) run(r *rand.Rand) outcome {
	x := &simulation{stage: s, r: r, left: s.tasks, factor: make([]float64, s.workers), tries: make([][]*attempt, s.tasks)}
	for t := range s.tasks {
		x.waiting = append(x.waiting, s.tasks-1-t)
	}
	for w := range s.workers {
		x.factor[w] = x.speed()
		x.idle = append(x.idle, w)
	}
	for x.assign(); x.left > 0; x.assign() {
		x.step()
	}
	for _, a := range x.running {
		if a.task >= 0 && !a.void {
			x.work += x.now - a.start
		}
	}
	ideal := math.Ceil(float64(s.tasks) / float64(s.workers))
	return outcome{x.now / ideal, x.work / float64(s.tasks)}
}

// speed draws the factor of the times of a new worker.
func (x *simulation) speed() float64 {
	if x.r.Float64() < x.slow {
		return x.by
	}
	return 1
}

// assign gives tasks to idle workers.
func (x *simulation) assign() {
	for len(x.idle) > 0 {
		task := x.next()
		if task < 0 {
			return
		}
		w := x.idle[len(x.idle)-1]
		x.idle = x.idle[:len(x.idle)-1]
		a := &attempt{worker: w, task: task, start: x.now, done: true}
		a.end = x.now + x.factor[w]*math.Exp(x.spread*x.r.NormFloat64()-x.spread*x.spread/2)
		if x.lost > 0 {
			if at := x.now + x.r.ExpFloat64()/x.lost; at < a.end {
				a.end, a.done = at, false
			}
		}
		x.tries[task] = append(x.tries[task], a)
		heap.Push(&x.running, a)
	}
}

// next returns a waiting task. If no task is waiting and second attempts are allowed, it returns the late task whose
// only attempt began first, else -1.
func (x *simulation) next() int {
	if n := len(x.waiting); n > 0 {
		t := x.waiting[n-1]
		x.waiting = x.waiting[:n-1]
		return t
	}
	best := -1
	if !x.second {
		return best
	}
	for _, a := range x.running {
		if a.task < 0 || a.void || len(x.tries[a.task]) != 1 || x.now-a.start < 1 {
			continue // replaced, finished, attempted twice, or not late
		}
		if best < 0 || a.start < x.tries[best][0].start {
			best = a.task
		}
	}
	return best
}

// step advances the time to the end of the next attempt.
func (x *simulation) step() {
	if x.second && len(x.idle) > 0 && len(x.waiting) == 0 && x.running[0].end > x.now+0.25 {
		x.now += 0.25 // look again whether a task is late
		return
	}
	a := heap.Pop(&x.running).(*attempt)
	if a.void {
		return
	}
	x.now = a.end
	if a.task < 0 {
		x.idle = append(x.idle, a.worker)
		return
	}
	x.work += x.now - a.start
	if !a.done {
		x.lose(a)
		return
	}
	x.left--
	x.idle = append(x.idle, a.worker)
	for _, other := range x.tries[a.task] {
		if other != a {
			other.void = true
			x.work += x.now - other.start
			x.idle = append(x.idle, other.worker)
		}
	}
	x.tries[a.task] = nil
}

// lose replaces the worker of an attempt. Its task waits again, unless another attempt runs.
func (x *simulation) lose(a *attempt) {
	x.factor[a.worker] = x.speed()
	heap.Push(&x.running, &attempt{worker: a.worker, task: -1, end: x.now + x.restart})
	others := slices.DeleteFunc(x.tries[a.task], func(other *attempt) bool { return other == a })
	if x.tries[a.task] = others; len(others) == 0 {
		x.waiting = append(x.waiting, a.task)
	}
}

// stages are the rows of the table: 24,000 ranges or 1,000 shards on 100 workers, and 1,000 shards on 1,000.
var stages = []struct {
	name           string
	tasks, workers int
}{
	{"24,000 tasks on 100 workers", 24000, 100},
	{"1,000 tasks on 100 workers", 1000, 100},
	{"1,000 tasks on 1,000 workers", 1000, 1000},
}

// troubles are the disturbances of a stage.
var troubles = []struct {
	name, short    string
	slow, by, lost float64
}{
	{"no slow workers", "none", 0, 1, 0},
	{"2% are 5x slower", "2% slow", 0.02, 5, 0},
	{"1 loss in 100 tasks", "1% lost", 0, 1, 0.01},
	{"2% are 5x slower, 1 loss in 10 tasks", "2% slow, 10% lost", 0.02, 5, 0.1},
}

func runStragglers(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(40)
	work := c.Work(float64(len(stages) * len(troubles) * 2))
	plot := figure.Plot{
		Name: "scale-stragglers", Title: "Time of a stage with slow and lost workers",
		X: "workers that are 5x slower, tasks that lose theirs",
		Y: "time over that without trouble", LogY: true, Curves: make([]figure.Curve, 2*len(stages)),
	}
	for _, trouble := range troubles {
		plot.Names = append(plot.Names, trouble.short)
	}
	for i, at := range stages {
		for j, trouble := range troubles {
			for k, second := range []bool{false, true} {
				s := stage{
					tasks: at.tasks, workers: at.workers, spread: 0.2, slow: trouble.slow, by: trouble.by, lost: trouble.lost,
					restart: 1, second: second,
				}
				if c.Quick {
					s.tasks, s.workers = s.tasks/10, s.workers/10
				}
				all, err := experiment.Each(ctx, nil, 0, c.Trials, func(_ context.Context, trial int) (outcome, error) {
					stream := uint64(trial)<<16 | uint64(i)<<8 | uint64(j)<<1 | uint64(k)
					return s.run(rand.New(rand.NewPCG(c.Seed, stream))), nil
				})
				if err != nil {
					return result, err
				}
				name := fmt.Sprintf("%s, %s", at.name, trouble.name)
				if second {
					name += ", second attempts"
				}
				time := figure.Mean(name+": time", experiment.Values(all, func(o outcome) float64 { return o.time }))
				result.Add(time,
					figure.Mean(name+": work", experiment.Values(all, func(o outcome) float64 { return o.work })))
				curve := &plot.Curves[2*i+k]
				if curve.Name = at.name; second {
					curve.Name += ", second attempts"
				}
				curve.Add(float64(j+1), time)
				work.Step(1)
			}
		}
	}
	result.Plots = []figure.Plot{plot}
	result.Notes = append(result.Notes,
		"Time is relative to as many workers of equal speed that never fail; work is the work of all attempts over "+
			"the work of the tasks. Times of tasks have a lognormal spread of 20%; a lost worker is replaced after the time "+
			"of a task.")
	return result, nil
}
