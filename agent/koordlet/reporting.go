package koordlet

import (
	"context"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const (
	// A report that failed is made again after a time that doubles from firstRetry to lastRetry.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	// metricCheckInterval is how often the agent looks whether there is a NodeMetric to report to.
	metricCheckInterval = time.Second
)

// reporting writes the node's NodeMetric.
type reporting struct {
	options     *Options
	writer      *report.Writer
	cluster     *state.State
	measurement *measurement
	status      *enforcingStatus
	// reportedReason is the last one that was reported, and to which NodeMetric, by UID.
	reportedReason, reportedReasonTo string
	// reportedTo is the NodeMetric that was reported to last, by UID.
	reportedTo string
	// retry is the time until the next attempt after one that did not succeed, zero after a success.
	retry time.Duration
	// reportErrors is why the last report was not taken.
	reportErrors errorLog
}

func newReporting(options *Options, clients *connection.Clients, cluster *state.State, measurement *measurement, status *enforcingStatus) *reporting {
	return &reporting{options: options, writer: report.NewWriter(clients.SLOWrites), cluster: cluster, measurement: measurement, status: status}
}

// run reports until the context ends: at once to a NodeMetric that is new, and then each interval, give or take a twentieth, so
// that nodes do not report all together.
func (r *reporting) run(ctx context.Context) {
	next := time.Time{}
	ticker := r.options.Clock.NewTicker(metricCheckInterval)
	defer ticker.Stop()
	for {
		metric := r.cluster.Metric()
		if metric != nil && string(metric.UID) != r.reportedTo {
			next = time.Time{}
		}
		if now := r.options.Clock.Now(); metric != nil && !now.Before(next) && r.cluster.Known() {
			if r.report(ctx, metric) {
				r.reportedTo = string(metric.UID)
				next = now.Add(spread(report.Interval(&metric.Spec)))
			} else {
				next = now.Add(r.retry)
			}
		}
		r.writeConditions(ctx, metric)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// writeConditions writes the condition to the NodeMetric when it changed since the last report, between two reports, and also
// where there is nothing to report: while objects or the machine cannot be read. One that fails is tried again at the next look.
func (r *reporting) writeConditions(ctx context.Context, metric *slov1alpha1.NodeMetric) {
	reason := r.status.verdict().Reason
	if metric == nil || r.reportedReason == reason && r.reportedReasonTo == string(metric.UID) {
		return
	}
	err := r.writer.WriteConditions(ctx, metric.Name, r.status.conditions())
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
		r.reportErrors.Report(ctx, err, r.options.Clock.Now(), "Failed to report NodeMetric, will retry")
		return
	}
	r.reportedReason, r.reportedReasonTo = reason, string(metric.UID)
}

func spread(interval time.Duration) time.Duration {
	return interval*95/100 + rand.N(interval/10+1)
}

// report writes once, and reports whether another report is due only after the interval.
func (r *reporting) report(ctx context.Context, metric *slov1alpha1.NodeMetric) bool {
	reason := r.status.verdict().Reason
	status := r.measurement.status(r.options.Clock.Now())
	if status == nil {
		r.retry = metricCheckInterval
		return false
	}
	status.Conditions = r.status.conditions()
	err := r.writer.Write(ctx, metric.Name, status)
	now := r.options.Clock.Now()
	switch {
	case err == nil:
		if r.reportErrors.lastLogged != "" {
			klog.FromContext(ctx).Info("Reporting NodeMetric again")
		}
		r.reportErrors.Report(ctx, nil, now, "")
		r.retry, r.reportedReason, r.reportedReasonTo = 0, reason, string(metric.UID)
		return true
	case ctx.Err() != nil || apierrors.IsNotFound(err): // deleted; the manager makes a new one, and the watch says so
		return true
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		r.reportErrors.Report(ctx, err, now, "API server rejected NodeMetric")
		return true
	}
	r.reportErrors.Report(ctx, err, now, "Failed to report NodeMetric, will retry")
	r.retry = min(max(2*r.retry, firstRetry), lastRetry)
	return false
}
