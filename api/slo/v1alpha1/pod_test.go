package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

func TestPodOverrides(t *testing.T) {
	annotations := map[string]string{
		extension.AnnotationPodCPUBurst:  `{"policy":"auto","cpuBurstPercent":200}`,
		extension.AnnotationPodCPUQOS:    `{"groupIdentity":-1}`,
		extension.AnnotationPodMemoryQOS: `{"policy":"auto","wmarkRatio":90}`,
		extension.AnnotationPodBlkioQOS:  `{"blocks":[{"name":"data","type":"podvolume","ioCfg":{"readIOPS":100}}]}`,
	}
	burst, err := PodCPUBurst(annotations)
	if diff := cmp.Diff(&CPUBurstConfig{Policy: CPUBurstAuto, CPUBurstPercent: new(int64(200))}, burst); err != nil || diff != "" {
		t.Errorf("cpuBurst: %v (-want,+got):\n%s", err, diff)
	}
	cpu, err := PodCPUQOS(annotations)
	if diff := cmp.Diff(&CPUQOS{GroupIdentity: new(int64(-1))}, cpu); err != nil || diff != "" {
		t.Errorf("cpuQOS: %v (-want,+got):\n%s", err, diff)
	}
	memory, err := PodMemoryQOS(annotations)
	wantMemory := &PodMemoryQOSConfig{Policy: PodMemoryQOSPolicyAuto, MemoryQOS: MemoryQOS{WmarkRatio: new(int64(90))}}
	if diff := cmp.Diff(wantMemory, memory); err != nil || diff != "" {
		t.Errorf("memoryQOS: %v (-want,+got):\n%s", err, diff)
	}
	blkio, err := PodBlkIOQOS(annotations)
	wantBlkio := &BlkIOQOS{Blocks: []*BlockCfg{{Name: "data", BlockType: BlockTypePodVolume, IOCfg: IOCfg{ReadIOPS: new(int64(100))}}}}
	if diff := cmp.Diff(wantBlkio, blkio); err != nil || diff != "" {
		t.Errorf("blkioQOS: %v (-want,+got):\n%s", err, diff)
	}
}

func TestPodOverridesAreWrittenAndRemoved(t *testing.T) {
	pod := &corev1.Pod{}
	if err := SetPodCPUBurst(pod, &CPUBurstConfig{Policy: CPUBurstNone}); err != nil {
		t.Fatal(err)
	}
	if got, want := pod.Annotations[extension.AnnotationPodCPUBurst], `{"policy":"none"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := SetPodCPUBurst(pod, nil); err != nil || len(pod.Annotations) != 0 {
		t.Errorf("annotations %v, %v", pod.Annotations, err)
	}
}

func TestPodOverridesNameTheKey(t *testing.T) {
	_, err := PodMemoryQOS(map[string]string{extension.AnnotationPodMemoryQOS: `{"wmarkRatio":"high"}`})
	if err == nil || !strings.Contains(err.Error(), `"koordinator.sh/memoryQOS"`) {
		t.Errorf("error %v", err)
	}
}

// FuzzPodOverrides feeds one value to every decoder, none of which may panic.
func FuzzPodOverrides(f *testing.F) {
	f.Add(`{"policy":"auto","blocks":[null]}`)
	f.Fuzz(func(t *testing.T, value string) {
		annotations := map[string]string{
			extension.AnnotationPodCPUBurst: value, extension.AnnotationPodCPUQOS: value,
			extension.AnnotationPodMemoryQOS: value, extension.AnnotationPodBlkioQOS: value,
		}
		_, _ = PodCPUBurst(annotations)
		_, _ = PodCPUQOS(annotations)
		_, _ = PodMemoryQOS(annotations)
		_, _ = PodBlkIOQOS(annotations)
	})
}
