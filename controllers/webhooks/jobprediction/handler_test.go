package jobprediction

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/extension"
	controller "koordinator.sh/koord/controllers/jobinsight"
	"koordinator.sh/koord/decision/core/jobinsight"
)

const namespace = "koordinator-system"

var noon = time.Date(2030, time.January, 7, 12, 0, 0, 0, time.UTC)

// reports have taken an hour each time.
func reports(runs int) *jobinsight.Store {
	store := jobinsight.NewStore(0)
	for i := range runs {
		store.Observe(jobinsight.Run{Kind: jobinsight.Kind{User: "etl", Application: "report"}, Outcome: jobinsight.Completed,
			Ended: noon.Add(time.Duration(i-runs) * time.Hour), Values: jobinsight.Observed(1<<30, 1, time.Hour)})
	}
	return store
}

// written is a store as the leader writes it.
func written(store *jobinsight.Store) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: jobinsight.ConfigMapName(0)},
		BinaryData: map[string][]byte{jobinsight.DataKey: store.Encode(jobinsight.PartBytes)[0]},
	}
}

type rig struct {
	*Handler
	t      *testing.T
	client client.Client
	clock  *clocktesting.FakePassiveClock
	// reads of ConfigMaps so far, and what they fail with.
	mu      sync.Mutex
	reads   int
	failure error
}

func newRig(t *testing.T, objects ...client.Object) *rig {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, clock: clocktesting.NewFakePassiveClock(noon)}
	r.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reads++
			if r.failure != nil {
				return r.failure
			}
			return c.Get(ctx, key, object, options...)
		},
	}).Build()
	r.Handler = &Handler{Runs: controller.NewRuns(r.client, namespace, r.clock), Decoder: admission.NewDecoder(scheme)}
	return r
}

// create returns the prediction of a pod after the webhook has changed it; nil for none.
func (r *rig) create(pod *corev1.Pod) *extension.JobPrediction {
	r.t.Helper()
	raw, err := json.Marshal(pod)
	if err != nil {
		r.t.Fatal(err)
	}
	response := r.Handle(r.t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "u", Operation: admissionv1.Create, Namespace: "etl", Object: runtime.RawExtension{Raw: raw},
	}})
	if !response.Allowed {
		r.t.Fatalf("the pod is refused: %v", response.Result)
	}
	patch, err := json.Marshal(response.Patches)
	if err != nil {
		r.t.Fatal(err)
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		r.t.Fatal(err)
	}
	after, err := decoded.Apply(raw)
	if err != nil {
		r.t.Fatal(err)
	}
	var changed corev1.Pod
	if err := json.Unmarshal(after, &changed); err != nil {
		r.t.Fatal(err)
	}
	prediction, err := extension.GetJobPrediction(changed.Annotations)
	if err != nil {
		r.t.Fatal(err)
	}
	changed.Annotations, pod.Annotations = nil, nil
	if diff := cmp.Diff(pod, &changed); diff != "" {
		r.t.Errorf("more than the annotations is changed:\n%s", diff)
	}
	return prediction
}

// report is a pod of a run of the job, as the API server asks about it: without a namespace.
func report(annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "report-29384756-", Annotations: annotations,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "report-29384756", UID: "u", Controller: new(true)}},
	}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
}

func TestJobsAreCreatedWithAPrediction(t *testing.T) {
	forged := map[string]string{extension.AnnotationJobPrediction: `{"duration":{"likelySeconds":1,"mostSeconds":99999999}}`}
	other := report(forged)
	other.OwnerReferences[0].Name = "unheard-of"
	service := report(forged)
	service.OwnerReferences = nil
	tests := map[string]struct {
		objects []client.Object
		pod     *corev1.Pod
		want    int64
	}{
		"a job that has run before":                     {[]client.Object{written(reports(20))}, report(nil), 3600},
		"one that brings a prediction of its own":       {[]client.Object{written(reports(20))}, report(forged), 3600},
		"one that runs the first time":                  {[]client.Object{written(jobinsight.NewStore(0))}, report(nil), 0},
		"nothing was ever written":                      {nil, report(forged), 0},
		"a pod that is no job and brings a prediction":  {[]client.Object{written(reports(20))}, service, 0},
		"a pod that is no job and brings no prediction": {[]client.Object{written(reports(20))}, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := newRig(t, test.objects...).create(test.pod)
			if (got != nil) != (test.want > 0) || got != nil && (got.Duration.LikelySeconds < test.want*9/10 || got.Duration.LikelySeconds > test.want*11/10) {
				t.Errorf("prediction %+v, want about %d s", got, test.want)
			}
		})
	}
}

func TestWhatIsKnownIsReadOnceAMinute(t *testing.T) {
	r := newRig(t, written(reports(20)))
	for range 3 {
		r.create(report(nil))
	}
	if r.reads != jobinsight.Parts {
		t.Errorf("%d reads for three pods, want %d", r.reads, jobinsight.Parts)
	}
	r.clock.SetTime(noon.Add(2 * time.Minute))
	if r.create(report(nil)); r.reads != 2*jobinsight.Parts {
		t.Errorf("%d reads, want them anew after a minute", r.reads)
	}
	r.clock.SetTime(noon.Add(4 * time.Minute))
	r.failure = errors.New("timeout")
	if got := r.create(report(nil)); got == nil {
		t.Error("what was read before is not used while the API server does not answer")
	}
	failed := r.reads
	if r.create(report(nil)); r.reads != failed {
		t.Error("each pod asks an API server that does not answer")
	}
}

func TestPodsAreCreatedWhenNothingCanBeRead(t *testing.T) {
	r := newRig(t, written(reports(20)))
	r.failure = errors.New("timeout")
	if got := r.create(report(map[string]string{extension.AnnotationJobPrediction: `{"duration":{"likelySeconds":1}}`})); got != nil {
		t.Errorf("prediction %+v, and nothing could be read", got)
	}
}

// TestOneReadsForAll has pods created at once, before anything is known.
func TestOneReadsForAll(t *testing.T) {
	r := newRig(t, written(reports(20)))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if store, err := r.Runs.Latest(t.Context()); err != nil || store == nil {
				t.Errorf("%v %v", store, err)
			}
		})
	}
	group.Wait()
	if r.reads != jobinsight.Parts {
		t.Errorf("%d reads, want %d", r.reads, jobinsight.Parts)
	}
}
