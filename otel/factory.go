package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
)

// NewFactory returns the factory of the processor "dedup", for logs and traces. The Collector's builder calls it.
func NewFactory() processor.Factory {
	return processor.NewFactory(
		component.MustNewType("dedup"),
		func() component.Config { return defaultConfig() },
		processor.WithLogs(newLogs, component.StabilityLevelAlpha),
		processor.WithTraces(newTraces, component.StabilityLevelAlpha),
	)
}

func newLogs(
	_ context.Context, set processor.Settings, c component.Config, next consumer.Logs,
) (processor.Logs, error) {
	d, err := newDeduper(set, c.(*Config), "logs")
	if err != nil {
		return nil, err
	}
	return &logs{d, next}, nil
}

func newTraces(
	_ context.Context, set processor.Settings, c component.Config, next consumer.Traces,
) (processor.Traces, error) {
	d, err := newDeduper(set, c.(*Config), "traces")
	if err != nil {
		return nil, err
	}
	if d.key.hasBody() {
		return nil, errors.New("key: body: spans have no body; want trace_id and span_id, or attributes")
	}
	return &traces{d, next}, nil
}
