package exact

import (
	"time"

	"github.com/bloomery/bloomery/filter"
)

// stage is a stage of a build.
type stage int

const (
	stageSort stage = iota
	stageCount
	stagePick
	stageList
	stageFirst
	stageAsk
	stageLast
	stageEnd
)

// stageStart is the share of the time of Build that has passed before a stage, measured with 10 million keys of which
// 1% are members. The choice of classes takes longer if there are many partitions.
var stageStart = [stageEnd + 1]float64{
	stageSort: 0, stageCount: .3, stagePick: .44, stageList: .45, stageFirst: .55,
	stageAsk: .6, stageLast: .85, stageEnd: 1,
}

// stages reports the progress of a build.
type stages struct {
	report func(filter.Progress) // or nil
	at     stage
	all    uint64    // steps of the stage, 0 if they are not counted
	steps  uint64    // finished steps of the stage
	last   time.Time // time of the last report
}

// beginStage begins a stage with the given number of steps.
func (p *stages) beginStage(at stage, steps uint64) {
	p.at, p.all, p.steps = at, steps, 0
	p.sendReport()
}

// countSteps counts steps.
func (p *stages) countSteps(steps uint64) {
	const rarely = 1 << 14 // steps
	// countSteps runs once per key, so the clock is read only once per 16,384 of them.
	before := p.steps
	p.steps += steps
	if before/rarely != p.steps/rarely && p.report != nil && time.Since(p.last) > 100*time.Millisecond {
		p.sendReport()
	}
}

// raiseTo raises the number of finished steps to at least steps, and reports it. It is for stages with few calls.
func (p *stages) raiseTo(steps uint64) {
	if steps > p.steps {
		p.steps = steps
		p.sendReport()
	}
}

func (p *stages) sendReport() {
	if p.report == nil {
		return
	}
	p.last = time.Now()
	done := stageStart[p.at]
	if p.all > 0 {
		done += (stageStart[p.at+1] - done) * min(float64(p.steps)/float64(p.all), 1)
	}
	p.report(filter.Progress{Done: done})
}
