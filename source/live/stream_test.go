package live

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

func encoded(t testing.TB, list *corev1.PodList) []byte {
	t.Helper()
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(list, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decodePod(raw []byte, into *corev1.Pod) error { return unmarshal(raw, podDrop, into) }

func TestListsKeepTheirOrderAcrossBatches(t *testing.T) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}}
	var want []string
	for i := range 3*batchSize + 1 {
		want = append(want, fmt.Sprintf("pod-%d", i))
		list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: want[i]}})
	}
	pods, err := collect(bytes.NewReader(encoded(t, list)), splitProtobuf, decodePod)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range pods {
		got = append(got, pods[i].Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected order (-want +got):\n%s", diff)
	}
}

func TestItemsThatNobodyAsksForAreLeftOut(t *testing.T) {
	list := &corev1.PodList{}
	var want []string
	for i := range 2*batchSize + 7 {
		name := fmt.Sprintf("pod-%d", i)
		if list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}); i%100 == 0 || i < 100 {
			want = append(want, name)
		}
	}
	pods, err := collect(bytes.NewReader(encoded(t, list)), splitProtobuf, func(raw []byte, into *corev1.Pod) error {
		if err := decodePod(raw, into); err != nil || slices.Contains(want, into.Name) {
			return err
		}
		return errLeftOut
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range pods {
		got = append(got, pods[i].Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected pods (-want +got):\n%s", diff)
	}
}

func TestStripLeavesOutExactlyWhatIsNamed(t *testing.T) {
	pod := largePod("web-0", "node-1")
	want := *pod.DeepCopy()
	want.ManagedFields, want.Spec.Volumes = nil, nil
	container := &want.Spec.Containers[0]
	*container = corev1.Container{Name: container.Name, Resources: container.Resources}
	want.Status.PodIP, want.Status.HostIP = "", ""
	status := &want.Status.ContainerStatuses[0]
	*status = corev1.ContainerStatus{Name: status.Name, Ready: true, Resources: status.Resources}
	raw, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var got corev1.Pod
	if err := decodePod(raw, &got); err != nil {
		t.Fatal(err)
	}
	// The zero security context and the like come from Marshal writing empty messages.
	got.Spec.SecurityContext, want.Spec.SecurityContext = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected pod (-want +got):\n%s", diff)
	}
}

func TestBrokenListsAreErrors(t *testing.T) {
	whole := encoded(t, &corev1.PodList{Items: []corev1.Pod{largePod("a", "n"), largePod("b", "n")}})
	tests := map[string][]byte{
		"empty":                  nil,
		"no magic":               []byte(`{"kind":"PodList"}`),
		"cut in an item":         whole[:len(whole)/2],
		"cut after the magic":    whole[:5],
		"a length beyond reason": append(slices.Clone(whole[:4]), 0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := collect(bytes.NewReader(data), splitProtobuf, decodePod); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestJSONListsAreSplitWhereverItemsStand(t *testing.T) {
	tests := map[string]struct {
		in      string
		want    []string
		wantErr bool
	}{
		"items last":      {in: `{"kind":"L","metadata":{"items":[1]},"items":[{"a":1},{"a":[2]}]}`, want: []string{`{"a":1}`, `{"a":[2]}`}},
		"items first":     {in: `{"items":[{"a":1}],"kind":"L"}`, want: []string{`{"a":1}`}},
		"null items":      {in: `{"items":null}`},
		"no items":        {in: `{"kind":"L"}`},
		"no object":       {in: `[1]`, wantErr: true},
		"items no array":  {in: `{"items":{}}`, wantErr: true},
		"cut in an item":  {in: `{"items":[{"a":`, wantErr: true},
		"cut after items": {in: `{"items":[]`, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := splitJSON(strings.NewReader(tc.in), func(raw []byte) error {
				got = append(got, string(raw))
				return nil
			})
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want one: %v", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("unexpected items (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFailingItemFailsTheList(t *testing.T) {
	wrong := errors.New("wrong")
	_, err := collect(strings.NewReader(`{"items":[1,2]}`), splitJSON, func([]byte, *int) error { return wrong })
	if !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

func FuzzProtobufList(f *testing.F) {
	f.Add(encoded(f, &corev1.PodList{Items: []corev1.Pod{largePod("a", "n")}}))
	f.Add([]byte("k8s\x00\x12\x02\x12\x00"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		_, _ = collect(bytes.NewReader(data), splitProtobuf, decodePod)
	})
}

func FuzzStripKeepsWhatItDoesNotName(f *testing.F) {
	pod := largePod("a", "n")
	raw, err := pod.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		if stripped, err := strip(nil, data, podDrop); err == nil && len(stripped) > len(data) {
			t.Fatalf("stripped to %d bytes of %d", len(stripped), len(data))
		}
		var whole, kept corev1.Pod
		if whole.Unmarshal(data) != nil {
			return
		}
		// Encoded anew, because gogo accepts entries of a map that end behind their length, in a field that is dropped.
		encoded, err := whole.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		stripped, err := strip(nil, encoded, podDrop)
		if err != nil {
			t.Fatalf("a pod that is well encoded: %v", err)
		}
		if err := kept.Unmarshal(stripped); err != nil {
			t.Fatalf("decodes whole, and stripped: %v", err)
		}
		if kept.Name != whole.Name || kept.Spec.NodeName != whole.Spec.NodeName || len(kept.Spec.Containers) != len(whole.Spec.Containers) {
			t.Fatalf("got %q on %q, want %q on %q", kept.Name, kept.Spec.NodeName, whole.Name, whole.Spec.NodeName)
		}
	})
}

// TestAMapThatEndsBehindItsLength is read by gogo, whose entries may take bytes of the field that follows: stripped, it
// is an error and no pod with other labels.
func TestAMapThatEndsBehindItsLength(t *testing.T) {
	entry := []byte{0x0a, 0x04, 'a'} // A key of four bytes, of which the entry has one.
	meta := protowire.AppendBytes(protowire.AppendTag(nil, 11, protowire.BytesType), entry)
	meta = protowire.AppendBytes(protowire.AppendTag(meta, 17, protowire.BytesType), []byte{0x0a, 0x01, 'm'})
	raw := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), meta)
	var whole, got corev1.Pod
	if err := whole.Unmarshal(raw); err != nil {
		t.Fatalf("gogo refuses it whole: %v", err)
	}
	if err := unmarshal(raw, podDrop, &got); err == nil {
		t.Errorf("got a pod with the labels %v", got.Labels)
	}
}

// TestListsOfPodsKeepTheirReasons, and stay without the rest of what a brief pod is without.
func TestListsOfPodsKeepTheirReasons(t *testing.T) {
	pod := largePod("web-0", "")
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no node has room"}}
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}
	raw, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		drop             dropped
		wantConditions   []corev1.PodCondition
		wantWaitingState *corev1.ContainerStateWaiting
	}{
		"a list of pods":          {podListDrop, pod.Status.Conditions, pod.Status.ContainerStatuses[0].State.Waiting},
		"the pods of an overview": {podBriefDrop, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got corev1.Pod
			if err := unmarshal(raw, tc.drop, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantConditions, got.Status.Conditions); diff != "" {
				t.Errorf("unexpected conditions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantWaitingState, got.Status.ContainerStatuses[0].State.Waiting); diff != "" {
				t.Errorf("unexpected state (-want +got):\n%s", diff)
			}
			if image := got.Status.ContainerStatuses[0].Image + got.Spec.Containers[0].Image; image != "" {
				t.Errorf("image %q was decoded", image)
			}
		})
	}
}
