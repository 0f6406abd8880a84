package framework_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/descheduler/pkg/descheduler/evictions"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/descheduler/framework"
)

// job is a migration job of a pod in a phase.
func job(name, podName, of string, phase schedulingv1alpha1.PodMigrationJobPhase) *schedulingv1alpha1.PodMigrationJob {
	uid := types.UID("")
	if of != "" {
		uid = types.UID("uid-" + of)
	}
	return &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "default", Name: podName, UID: uid}},
		Status:     schedulingv1alpha1.PodMigrationJobStatus{Phase: phase},
	}
}

func TestAnEvictionIsAMigrationJob(t *testing.T) {
	s := cluster{objects: objects(node("a"), node("b"), pod("web", "a")), plugins: map[string]run{"Everything": everything}, config: profileOf("deschedule", "Everything", "{}")}.start(t)
	s.pass(t)
	jobs := s.allJobs(t)
	if len(jobs) != 1 || !regexp.MustCompile(`^web-[0-9a-f]{12}$`).MatchString(jobs[0].Name) {
		t.Fatalf("jobs are %+v, want one", jobs)
	}
	wantSpec := schedulingv1alpha1.PodMigrationJobSpec{
		Mode: schedulingv1alpha1.PodMigrationJobModeReservationFirst, TTL: &metav1.Duration{Duration: 7 * time.Minute},
		PodRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web", UID: "uid-web"},
	}
	if diff := cmp.Diff(wantSpec, jobs[0].Spec); diff != "" {
		t.Errorf("specification (-want +got):\n%s", diff)
	}
	wantAnnotations := map[string]string{
		"koordinator.sh/evict-reason": "everything goes", "koordinator.sh/evict-trigger": "Everything", "koordinator.sh/job-created-by": "this-process",
		"descheduler.koordinator.sh/pass": jobs[0].Annotations["descheduler.koordinator.sh/pass"], "descheduler.koordinator.sh/source-node": "a",
	}
	if diff := cmp.Diff(wantAnnotations, jobs[0].Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if pass := jobs[0].Annotations["descheduler.koordinator.sh/pass"]; !strings.HasPrefix(pass, "this-process-") {
		t.Errorf("the pass is named %q", pass)
	}
}

func TestPluginsOfTheProjectChangeTheJob(t *testing.T) {
	pin := func(ctx context.Context, handle frameworktypes.Handle, _ []*corev1.Node) error {
		evictor := handle.Evictor().(framework.Evictor)
		return evictor.EvictBy(ctx, pod("web", "a"), evictions.EvictOptions{}, func(job *schedulingv1alpha1.PodMigrationJob) {
			job.Name, job.Spec.Paused, job.Spec.PodRef = "another", true, nil
			job.Labels = map[string]string{"target": "b"}
		})
	}
	s := cluster{objects: objects(node("a"), node("b"), pod("web", "a")), plugins: map[string]run{"Pin": pin}, config: profileOf("balance", "Pin", "{}")}.start(t)
	pass := s.pass(t)
	jobs := s.allJobs(t)
	if len(jobs) != 1 || jobs[0].Labels["target"] != "b" || !jobs[0].Spec.Paused || jobs[0].Name == "another" || jobs[0].Spec.PodRef.Name != "web" {
		t.Errorf("jobs are %+v; the pass is %+v", jobs, pass)
	}
}

func TestWithoutAMigratorJobsReserveFirstAndEndedPodsAreJustEvicted(t *testing.T) {
	s := cluster{
		objects: objects(node("a"), node("b"), pod("running", "a"), pod("failed", "a", failed)), plugins: map[string]run{"Everything": everything},
		config: "profiles: [{plugins: {deschedule: {enabled: [{name: Everything}]}, evict: {disabled: [{name: '*'}], enabled: [{name: DefaultEvictor}]}, filter: {disabled: [{name: '*'}]}}}]",
	}.start(t)
	s.pass(t)
	got := map[string]schedulingv1alpha1.PodMigrationJobMode{}
	for _, job := range s.allJobs(t) {
		got[job.Spec.PodRef.Name] = job.Spec.Mode
	}
	want := map[string]schedulingv1alpha1.PodMigrationJobMode{"running": "ReservationFirst"}
	// DefaultEvictor lets failed pods that have a controller go.
	want["failed"] = "EvictDirectly"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

func TestPodsThatAreLeavingAreNotAskedAgain(t *testing.T) {
	deleted := metav1.Now()
	tests := map[string]struct {
		edit func(*corev1.Pod)
		jobs []client.Object
		want bool
	}{
		"a pod that stays": {want: true},
		"being deleted":    {edit: func(p *corev1.Pod) { p.DeletionTimestamp, p.Finalizers = &deleted, []string{"example.com/wait"} }},
		"evicted by another descheduler": {edit: func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
		}},
		"an eviction that was called off": {want: true, edit: func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse}}
		}},
		"evicted in the background by another descheduler": {edit: func(p *corev1.Pod) {
			p.Annotations = map[string]string{"descheduler.alpha.kubernetes.io/eviction-in-progress": "true"}
		}},
		"has a job":                           {jobs: []client.Object{job("made-by-hand", "web", "web", "")}},
		"has a running job":                   {jobs: []client.Object{job("made-by-hand", "web", "web", schedulingv1alpha1.PodMigrationJobRunning)}},
		"has a job that names no UID":         {jobs: []client.Object{job("made-by-hand", "web", "", schedulingv1alpha1.PodMigrationJobPending)}},
		"its predecessor of the name has one": {want: true, jobs: []client.Object{job("earlier", "web", "web-before", schedulingv1alpha1.PodMigrationJobRunning)}},
		"its job failed":                      {want: true, jobs: []client.Object{job("failed", "web", "web", schedulingv1alpha1.PodMigrationJobFailed)}},
		"the MigrationController refuses it":  {edit: labelled("migrate", "never")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			web := pod("web", "a")
			if test.edit != nil {
				test.edit(web)
			}
			s := cluster{objects: objects(node("a"), node("b"), web), jobs: test.jobs, plugins: map[string]run{"Everything": everything}, config: profileOf("deschedule", "Everything", "{}")}.start(t)
			s.pass(t)
			if got := len(s.allJobs(t)) == len(test.jobs)+1; got != test.want {
				t.Errorf("a job was created: %t, want %t", got, test.want)
			}
		})
	}
}

func TestNoAnswerCreatesASecondJob(t *testing.T) {
	lost := errors.New("connection reset by peer")
	tests := map[string]struct {
		intercept interceptor.Funcs
		jobs      func(first string) []client.Object
		want      []framework.Result
		wantJobs  int
		wantError string
	}{
		"the answer is lost after the job was created": {
			intercept: interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if err := c.Create(ctx, object, options...); err != nil {
					return err
				}
				return lost
			}},
			want: []framework.Result{framework.JobCreated}, wantJobs: 1,
		},
		"the request is lost": {
			intercept: interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return lost }},
			want:      []framework.Result{framework.EvictionFailed}, wantError: "connection reset by peer",
		},
		"all answers are lost": {
			intercept: interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
					_ = c.Create(ctx, object, options...)
					return lost
				},
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return lost
				},
			},
			want: []framework.Result{framework.EvictionFailed}, wantJobs: 1, wantError: "it may have been created",
		},
		"the cache does not know of the job yet": {
			intercept: interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return nil }},
			jobs: func(first string) []client.Object {
				return []client.Object{job(first, "web", "web", schedulingv1alpha1.PodMigrationJobRunning)}
			},
			want: []framework.Result{framework.AlreadyLeaving}, wantJobs: 1,
		},
		"the cache does not know of a job that is over": {
			intercept: interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return nil }},
			jobs: func(first string) []client.Object {
				return []client.Object{job(first, "web", "web", schedulingv1alpha1.PodMigrationJobFailed)}
			},
			want: []framework.Result{framework.JobCreated}, wantJobs: 2,
		},
	}
	first := nameOfFirstJob(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster{objects: objects(node("a"), node("b"), pod("web", "a")), plugins: map[string]run{"Everything": everything}, config: profileOf("deschedule", "Everything", "{}")}
			if test.jobs != nil {
				c.jobs = test.jobs(first)
			}
			s := c.start(t)
			stored := s.jobs
			c.edit = func(config *framework.Config) {
				config.Jobs = interceptor.NewClient(stored.(client.WithWatch), test.intercept)
			}
			again := c.start(t)
			pass := again.pass(t)
			again.jobs = stored
			var got []framework.Result
			for _, eviction := range pass.Evictions {
				got = append(got, eviction.Result)
				if !strings.Contains(eviction.Error, test.wantError) {
					t.Errorf("error is %q, want %q", eviction.Error, test.wantError)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if jobs := again.allJobs(t); len(jobs) != test.wantJobs {
				t.Errorf("%d jobs, want %d", len(jobs), test.wantJobs)
			}
		})
	}
}

// TestAPodWithManyJobsThatAreOverGetsAnother deletes the older half of them, of which the names are free again.
func TestAPodWithManyJobsThatAreOverGetsAnother(t *testing.T) {
	c := cluster{objects: objects(node("a"), node("b"), pod("web", "a")), plugins: map[string]run{"Everything": everything}, config: profileOf("deschedule", "Everything", "{}")}
	s := c.start(t)
	const over = 30
	for i := range over {
		s.pass(t)
		for _, job := range s.allJobs(t) {
			job.Status.Phase = schedulingv1alpha1.PodMigrationJobFailed
			if err := s.jobs.Status().Update(t.Context(), &job); err != nil {
				t.Fatal(err)
			}
			if i == over-1 && job.Annotations["half"] == "older" {
				if err := s.jobs.Delete(t.Context(), &job); err != nil {
					t.Fatal(err)
				}
			}
			if i == over/2-1 {
				metav1.SetMetaDataAnnotation(&job.ObjectMeta, "half", "older")
				if err := s.jobs.Update(t.Context(), &job); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	s.pass(t)
	if got := len(s.allJobs(t)); got != over/2+1 {
		t.Errorf("%d jobs, want the %d that are over and another one", got, over/2)
	}
}

// nameOfFirstJob is the name of the first job of the pod web.
func nameOfFirstJob(t *testing.T) string {
	t.Helper()
	s := cluster{objects: objects(node("a"), node("b"), pod("web", "a")), plugins: map[string]run{"Everything": everything}, config: profileOf("deschedule", "Everything", "{}")}.start(t)
	s.pass(t)
	return s.allJobs(t)[0].Name
}

func TestAPodThatHadAJobUsesUpNoLimit(t *testing.T) {
	first := nameOfFirstJob(t)
	s := cluster{
		objects: objects(node("a"), node("b"), pod("web", "a"), pod("xylophone", "a")), plugins: map[string]run{"Everything": everything},
		jobs:   []client.Object{job(first, "web", "web", schedulingv1alpha1.PodMigrationJobRunning)},
		config: profileOf("deschedule", "Everything", "{}") + "maxNoOfPodsToEvictTotal: 1",
		// The cache does not know of the job yet.
		intercept: interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return nil }},
	}.start(t)
	var got []framework.Result
	for _, eviction := range s.pass(t).Evictions {
		got = append(got, eviction.Result)
	}
	if diff := cmp.Diff([]framework.Result{framework.AlreadyLeaving, framework.JobCreated}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}
