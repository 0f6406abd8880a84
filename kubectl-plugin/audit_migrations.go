package kubectlplugin

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/source"
)

// migrationOwner is the owner of the entries of PodMigrationJobs.
const migrationOwner = "koord-descheduler"

// addMigrations puts what PodMigrationJobs did with pods that leave the node or come to it among the entries of the agent, those that
// were not shown before. Without them the log of the agent is whole.
func (o *auditOptions) addMigrations(ctx context.Context, s *session, src source.Source, page *diagnosticsv1alpha1.AuditPage) {
	lister, can := src.(source.MigrationJobLister)
	if !can {
		return
	}
	jobs, err := lister.MigrationJobs(ctx)
	if err != nil {
		if !o.unlisted && ctx.Err() == nil {
			s.tell("PodMigrationJobs are not shown: %v", err)
		}
		o.unlisted = true
		return
	}
	if o.shown == nil {
		o.shown = map[string]bool{}
	}
	for i := range jobs {
		for _, entry := range migrationEntries(&jobs[i], o.name) {
			if id := jobs[i].Name + " " + entry.New; !o.shown[id] {
				o.shown[id] = true
				page.Entries = append(page.Entries, entry)
			}
		}
	}
	slices.SortStableFunc(page.Entries, func(a, b diagnosticsv1alpha1.AuditEntry) int { return a.Time.Compare(b.Time.Time) })
}

// migrationEntries are the steps of a job that moves a pod off a node or onto it.
func migrationEntries(job *schedulingv1alpha1.PodMigrationJob, node string) []diagnosticsv1alpha1.AuditEntry {
	from, to := job.Annotations[extension.AnnotationSourceNode], cmp.Or(job.Status.NodeName, job.Annotations[extension.AnnotationTargetNode])
	if job.Spec.PodRef == nil || from != node && to != node {
		return nil
	}
	why := "PodMigrationJob " + job.Name
	if to != "" {
		why += " to node " + to
	}
	var out []diagnosticsv1alpha1.AuditEntry
	for _, moment := range migration.Timeline(job) {
		entry := diagnosticsv1alpha1.AuditEntry{
			Time: metav1.NewMicroTime(moment.At), Owner: migrationOwner, Object: "pod " + job.Spec.PodRef.Namespace + "/" + job.Spec.PodRef.Name,
			Old: from, New: moment.Event, Why: why,
		}
		if moment.Message != "" {
			entry.Why += ": " + moment.Message
		}
		out = append(out, entry)
	}
	return out
}

// filter keeps the entries that were asked for.
func (o *auditOptions) filter(s *session, page *diagnosticsv1alpha1.AuditPage) {
	page.Entries = slices.DeleteFunc(page.Entries, func(entry diagnosticsv1alpha1.AuditEntry) bool {
		return o.pod != "" && !strings.Contains(entry.Object, o.pod) || o.since > 0 && s.Clock.Since(entry.Time.Time) > o.since
	})
}
