package koordlet

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// TestAMachineThatIsNotDescribedIsMeasuredOn: best effort is held back by the last known description of the machine.
func TestAMachineThatIsNotDescribedIsMeasuredOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		defer r.stop()
		r.machine.use("batch", 4)
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(30 * time.Second)
		r.machine.fail(nil, errors.New("a CPU goes offline"))
		r.after(5 * time.Minute)
		r.machine.use("service", 5)
		r.after(3 * time.Second)
		r.wantQuota(400000)
		if at, _, measured := r.measurement.used(); !measured || time.Since(at) > time.Second {
			t.Errorf("measured %t at %s, now is %s", measured, at, time.Now())
		}
		r.measurement.mu.Lock()
		defer r.measurement.mu.Unlock()
		if told := r.measurement.topologyReads; told[true] != 1 || told[false] < 3 || told[false] > 6 || r.measurement.topology == nil {
			t.Errorf("the machine was asked how it is built, by whether it told: %v; want once a minute", told)
		}
	})
}

func TestAMachineThatCannotBeReadIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.group.Go(func() { newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing).run(r.ctx) })
		r.after(3 * time.Minute)
		r.machine.fail(errors.New("too many open files"), nil)
		r.after(missedReadings * time.Second)
		if r.measurement.status(time.Now()) == nil {
			t.Error("what was measured a moment ago is not reported")
		}
		r.after(2 * time.Second)
		if r.measurement.status(time.Now()) != nil {
			t.Error("something is reported of a machine that cannot be read")
		}
		r.after(time.Hour)
		if age := time.Since(r.metric().UpdateTime.Time); age < time.Hour {
			t.Errorf("a node that was not measured for an hour reported %s ago", age)
		}
		r.machine.fail(nil, nil)
		r.after(5 * time.Second)
		if age := time.Since(r.metric().UpdateTime.Time); age > 5*time.Second {
			t.Errorf("the latest report is %s old after the machine can be read again", age)
		}
	})
}

// TestAnAgentThatHasReadOnceReportsNothing: what the one before it has reported stays until the usage is known, or each restart would take
// away what the node offers for as long as a report lasts.
func TestAnAgentThatHasReadOnceReportsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		for readings := 1; readings <= 2; readings++ {
			r.after(time.Second)
			if err := r.measurement.sample(r.ctx); err != nil {
				t.Fatal(err)
			}
			status := r.measurement.status(time.Now())
			if reports := status != nil; reports != (readings > 1) {
				t.Errorf("after %d readings the report is %+v", readings, status)
			}
			if status != nil && status.NodeMetric == nil {
				t.Errorf("after %d readings the report lacks what the node uses", readings)
			}
		}
	})
}

// TestReportsThatFailAreTold also where the first reading was waited for before.
func TestReportsThatFailAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.ReadOnly = true })
		defer r.stop()
		reports := newReporting(r.options, r.clients, r.cluster, r.measurement, r.standing)
		metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
		if reports.report(r.ctx, metric) || reports.reportErrors.lastLogged != "" {
			t.Errorf("a report before the first reading fails with %q", reports.reportErrors.lastLogged)
		}
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(5 * time.Second)
		r.server.Refuse(500)
		if reports.report(r.ctx, metric) || reports.reportErrors.lastLogged == "" {
			t.Error("a report that the API server refused is not told")
		}
		r.server.Refuse(0)
		if !reports.report(r.ctx, metric) || reports.reportErrors.lastLogged != "" || reports.retry != 0 {
			t.Errorf("after a report that succeeded %q is wrong, and the next is due in %s", reports.reportErrors.lastLogged, reports.retry)
		}
	})
}
