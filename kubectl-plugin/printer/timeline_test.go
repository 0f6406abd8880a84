package printer

import (
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func microBefore(d time.Duration) metav1.MicroTime { return metav1.NewMicroTime(fixtureNow.Add(-d)) }

// timelineFixture is a pod that waited, ran and was throttled.
func timelineFixture() *diagnosticsv1alpha1.PodTimeline {
	return &diagnosticsv1alpha1.PodTimeline{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "driver"},
		Entries: []diagnosticsv1alpha1.TimelineEntry{
			{Time: microBefore(10 * time.Minute), Count: 1, By: "Job/etl", Event: "PodCreated"},
			{
				Time: microBefore(10 * time.Minute), Count: 1, By: "koord-scheduler", Event: "FailedScheduling", Warning: true,
				Message: "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.",
			},
			{
				Time: microBefore(9 * time.Minute), LastTime: new(microBefore(6 * time.Minute)), Count: 4, By: "koord-scheduler", Event: "FailedScheduling", Warning: true,
				Message: "0/3 nodes are available: 3 Insufficient cpu.", Changed: []string{"Insufficient cpu: 2 -> 3", "node(s) were unschedulable: 1 -> 0"},
			},
			{Time: microBefore(5 * time.Minute), Count: 1, By: "koord-scheduler", Event: "Scheduled", Message: "Successfully assigned etl/driver to \x1b[31mworker-1"},
			{
				Time: microBefore(4 * time.Minute), LastTime: new(microBefore(time.Minute)), Count: 120, By: "koordlet/CPUBurst", Event: "Written",
				Message: "cpu.cfs_quota_us: 120000 -> 140000: the pod is throttled and the node is at 40%",
			},
		},
		Notes: []string{"node worker-1 is nominated for the pod, since when is not recorded"},
	}
}

func timelineViews() map[string]view {
	show := func(edit func(*diagnosticsv1alpha1.PodTimeline), wide bool) view {
		return func(w io.Writer, o Options) error {
			timeline := timelineFixture()
			edit(timeline)
			o.Wide = o.Wide || wide
			return PodTimeline(w, timeline, o)
		}
	}
	return map[string]view{
		"timeline":      show(func(*diagnosticsv1alpha1.PodTimeline) {}, false),
		"timeline-wide": show(func(*diagnosticsv1alpha1.PodTimeline) {}, true),
		"timeline-of-several-days": show(func(timeline *diagnosticsv1alpha1.PodTimeline) {
			timeline.Entries[0].Time = microBefore(50 * time.Hour)
		}, false),
	}
}
