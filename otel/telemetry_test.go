package otel

import (
	"strings"
	"testing"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// TestMetrics reads the metrics after known batches.
func TestMetrics(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	f, next := NewFactory(), &recorder{}
	set := processortest.NewNopSettings(f.Type())
	set.TelemetrySettings = telemetry.NewTelemetrySettings()
	c := testConfig(idKey)
	c.Keys, c.FPR, c.State = 100, 0.01, t.TempDir()
	made, err := f.CreateLogs(t.Context(), set, c, next)
	check(t, err)
	p := made.(*logs)
	check(t, p.Start(t.Context(), componenttest.NewNopHost()))

	p.send(t, strings.Join(numbered(0, 50), " "))
	p.send(t, "id-1 id-2 id-3")
	check(t, p.ConsumeLogs(t.Context(), logsOf("", "", "id-4"))) // an empty id makes no key
	next.fail = func([]string) error { return errRefused }
	if p.ConsumeLogs(t.Context(), logsOf("x", "", "id-5")) == nil {
		t.Error("no error")
	}
	check(t, p.save(t.Context(), p.memory.shards[0]))
	check(t, p.save(t.Context(), p.memory.shards[0])) // nothing has changed, so nothing is saved

	value := func(name string) float64 {
		t.Helper()
		m, err := telemetry.GetMetric("otelcol_processor_dedup_" + name)
		check(t, err)
		var labels string
		var v float64
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			labels, v = data.DataPoints[0].Attributes.Encoded(attribute.DefaultEncoder()), float64(data.DataPoints[0].Value)
		case metricdata.Gauge[float64]:
			labels, v = data.DataPoints[0].Attributes.Encoded(attribute.DefaultEncoder()), data.DataPoints[0].Value
		}
		if want := "otel.signal=logs,processor=dedup"; labels != want {
			t.Errorf("%s has the attributes %s, want %s", name, labels, want)
		}
		return v
	}
	within := func(name string, low, high float64) {
		t.Helper()
		if v := value(name); v < low || v > high {
			t.Errorf("%s is %v, want %v to %v", name, v, low, high)
		}
	}
	within("kept", 48, 50) // a few may be false positives
	within("dropped", 54-50, 54-48)
	within("without_key", 2, 2)
	within("saves", 1, 1)
	within("fill", 0.2, 0.5) // a small filter has room for twice as many keys
	within("fpr", 1e-4, 0.01)
	within("forgotten_early", 0, 0)
	if value("kept")+value("dropped") != 54 {
		t.Error("kept and dropped are not all records with a key that were accepted")
	}

	next.fail = nil
	p.send(t, strings.Join(numbered(100, 2000), " "))
	within("forgotten_early", 100, 2000)
	within("fill", 0.4, 2)
	check(t, p.Shutdown(t.Context()))
	check(t, telemetry.Shutdown(t.Context()))
}
