package live

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	genericfuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// podDrops are the ways in which pods are read.
var podDrops = map[string]dropped{
	"nothing": nil, "podDrop": podDrop, "podBriefDrop": podBriefDrop, "podListDrop": podListDrop, "podRowDrop": podRowDrop, "podMemberDrop": podMemberDrop,
	"podEvictableDrop": podEvictableDrop, "podMigratedDrop": podMigratedDrop, "podResizeDrop": podResizeDrop,
}

// TestPodsThatShareAreWhatTheyAreAlone compares pods that have all or nothing in common with what the decoder of one pod makes of them.
func TestPodsThatShareAreWhatTheyAreAlone(t *testing.T) {
	random := fuzzer.FuzzerFor(genericfuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(scheme.Scheme))
	var pods []corev1.Pod
	for range 50 {
		pod := corev1.Pod{}
		random.Fill(&pod)
		for copies := range 3 {
			other := *pod.DeepCopy()
			other.Name, other.UID, other.Spec.NodeName = fmt.Sprint(pod.Name, copies), types.UID(fmt.Sprint(copies)), fmt.Sprint("node-", copies)
			if copies == 2 {
				other.Status.Conditions, other.Labels = nil, nil
			}
			pods = append(pods, other)
		}
	}
	pods = append(pods, corev1.Pod{}, largePod("service", "node"))
	for name, drop := range podDrops {
		t.Run(name, func(t *testing.T) {
			decoder := &podDecoder{drop: drop}
			for i := range pods {
				raw, err := pods[i].Marshal()
				if err != nil {
					t.Fatal(err)
				}
				got, want := corev1.Pod{}, corev1.Pod{}
				if err := unmarshal(raw, drop, &want); err != nil {
					t.Fatal(err)
				}
				if err := decoder.decode(raw, &got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("pod %d (-alone +sharing):\n%s", i, diff)
				}
			}
		})
	}
}

// TestWhatIsNoPodIsAnErrorOfThePod: whatever stands where a pod should, decoding it says so or says the same as without sharing.
func TestWhatIsNoPodIsAnErrorOfThePod(t *testing.T) {
	pod := largePod("service", "node")
	whole, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string][]byte{
		"the end is missing":       whole[:len(whole)-1],
		"the beginning is missing": whole[1:],
		"a length is too large":    {0x0a, 0x7f, 0x01},
		"a part twice":             append(append([]byte{}, whole...), whole...),
		"a field of no pod":        append(append([]byte{}, whole...), 0x22, 0x01, 0x00),
		"a part that is a number":  {0x08, 0x01},
		"nothing":                  {},
	}
	for name, raw := range tests {
		t.Run(name, func(t *testing.T) {
			got, want := corev1.Pod{}, corev1.Pod{}
			wantErr, err := unmarshal(raw, podDrop, &want), (&podDecoder{drop: podDrop}).decode(raw, &got)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("error %v, alone %v", err, wantErr)
			}
			if diff := cmp.Diff(want, got); wantErr == nil && diff != "" {
				t.Errorf("pod (-alone +sharing):\n%s", diff)
			}
		})
	}
}

// TestPodsOfAControllerShare what they have in common, and forget it where all differ.
func TestPodsOfAControllerShare(t *testing.T) {
	decoder := &podDecoder{drop: podDrop}
	read := func(change func(*corev1.Pod)) corev1.Pod {
		pod := largePod("service-1", "node-1")
		change(&pod)
		raw, err := pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		decoded := corev1.Pod{}
		if err := decoder.decode(raw, &decoded); err != nil {
			t.Fatal(err)
		}
		return decoded
	}
	first := read(func(*corev1.Pod) {})
	second := read(func(p *corev1.Pod) {
		p.Name, p.UID, p.Spec.NodeName, p.CreationTimestamp = "service-2", "2", "node-2", metav1.Now()
	})
	if &first.Spec.Containers[0] != &second.Spec.Containers[0] || &first.Status.ContainerStatuses[0] != &second.Status.ContainerStatuses[0] {
		t.Error("the containers of two pods of a controller are not the same")
	}
	for i := range 2 * knownParts {
		read(func(p *corev1.Pod) { p.Spec.PriorityClassName = fmt.Sprint(i) })
	}
	if got := len(decoder.spec.known); got > knownParts {
		t.Errorf("%d specs are kept, want at most %d", got, knownParts)
	}
}

// TestAPodOfAControllerAllocatesLittle: there are 50,000 of them.
func TestAPodOfAControllerAllocatesLittle(t *testing.T) {
	pod := largePod("service-1", "node-1")
	raw, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]float64{"podDrop": 30, "podRowDrop": 8, "podBriefDrop": 8} {
		decoder := &podDecoder{drop: podDrops[name]}
		got := testing.AllocsPerRun(100, func() {
			var decoded corev1.Pod
			if err := decoder.decode(raw, &decoded); err != nil {
				t.Fatal(err)
			}
		})
		if got > most {
			t.Errorf("%s: %.0f allocations, want at most %.0f", name, got, most)
		}
	}
}

func BenchmarkPod(b *testing.B) {
	pod := largePod("service-1", "node-1")
	raw, err := pod.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	for name, drop := range podDrops {
		decoder := &podDecoder{drop: drop}
		for how, decode := range map[string]func(*corev1.Pod) error{
			"alone":   func(pod *corev1.Pod) error { return unmarshal(raw, drop, pod) },
			"sharing": func(pod *corev1.Pod) error { return decoder.decode(raw, pod) },
		} {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := decode(&corev1.Pod{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
