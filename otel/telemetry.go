package otel

import (
	"context"
	"errors"
	"math"

	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

// metrics counts what the processor does, and reports its memory.
type metrics struct {
	logger                                         *zap.Logger
	kept, dropped, withoutKey, saves, saveFailures metric.Int64Counter
	labels                                         metric.MeasurementOption
	usage                                          metric.Registration
	warned                                         bool // only the goroutine of keep uses it
}

func newMetrics(set processor.Settings, signal string, m *memory) (*metrics, error) {
	meter := set.MeterProvider.Meter("github.com/bloomery/bloomery/otel")
	var errs []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter("otelcol_processor_dedup_"+name, metric.WithUnit(unit),
			metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}

	labels := metric.WithAttributes(attribute.String("processor", set.ID.String()), attribute.String("otel.signal", signal))
	t := &metrics{
		logger:       set.Logger,
		kept:         counter("kept", "{record}", "Records with a new key that the next consumer accepted"),
		dropped:      counter("dropped", "{record}", "Records whose key was seen within ttl"),
		withoutKey:   counter("without_key", "{record}", "Records without key, which passed"),
		saves:        counter("saves", "{file}", "Files of the state that were saved"),
		saveFailures: counter("save_failures", "{file}", "Files of the state that could not be saved"),
		labels:       labels,
	}
	gauge := func(name, unit, description string) metric.Float64ObservableGauge {
		g, err := meter.Float64ObservableGauge("otelcol_processor_dedup_"+name, metric.WithUnit(unit),
			metric.WithDescription(description))
		errs = append(errs, err)
		return g
	}

	fill := gauge("fill", "1", "Keys in memory as a share of what keys in the configuration leaves room for")
	fpr := gauge("fpr", "1", "Probability that a record with a new key is dropped now")
	early, err := meter.Int64ObservableCounter("otelcol_processor_dedup_forgotten_early", metric.WithUnit("{key}"),
		metric.WithDescription("Keys that were forgotten before ttl, because more than keys in the configuration arrived"))
	if errs = append(errs, err); errors.Join(errs...) != nil {
		return nil, errors.Join(errs...)
	}

	t.usage, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		u := m.usage()
		o.ObserveFloat64(fill, float64(u.keys)/float64(u.capacity), labels)
		o.ObserveFloat64(fpr, u.fpr, labels)
		o.ObserveInt64(early, int64(min(u.early, math.MaxInt64)), labels)
		return nil
	}, fill, fpr, early)
	return t, err
}

// count counts the records of a batch that was accepted.
func (t *metrics) count(ctx context.Context, b *batch) {
	add := func(c metric.Int64Counter, n int) {
		if n > 0 {
			c.Add(ctx, int64(n), t.labels)
		}
	}
	add(t.kept, len(b.keys)-b.repeated-b.keyless)
	add(t.dropped, b.repeated)
	add(t.withoutKey, b.keyless)
}

// warnEarly warns once that keys are forgotten early.
func (t *metrics) warnEarly(c *Config) {
	if t.warned {
		return
	}
	t.warned = true
	t.logger.Warn("more different keys than keys in the configuration arrived within ttl: the oldest are forgotten early, "+
		"and their records pass again when they are repeated; raise keys, and remove the folder of state",
		zap.Uint64("keys", c.Keys), zap.Duration("ttl", c.TTL))
}

// close ends the reports.
func (t *metrics) close() { _ = t.usage.Unregister() }
