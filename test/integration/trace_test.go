package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// recordedPercent is the load of the recording: every machine at the same share of its request, the whole day.
const recordedPercent = 30

func TestRecordedUsageDrivesTheWholeChain(t *testing.T) {
	home, err := os.MkdirTemp("", "koord-trace-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	recording := filepath.Join(home, "day.csv")
	rows := "interval,vm0,vm1\n"
	for interval := range 288 {
		rows += fmt.Sprintf("%d,%d,%d\n", interval, recordedPercent, recordedPercent)
	}
	if err := os.WriteFile(recording, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	replay, err := sandboxtest.New("replay", home)
	if err != nil {
		t.Fatal(err)
	}
	if err := replay.Up(t.Context(), "--nodes", "3", "--trace", recording); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := replay.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	sandboxtest.Eventually(t, 90*time.Second, func() error { return followsRecording(t, replay) })
}

// followsRecording checks the chain link by link: usage in NodeMetric, batch resources, and a batch pod placed on them.
func followsRecording(t *testing.T, s *sandboxtest.Sandbox) error {
	result, err := s.Koordctl(t.Context(), "top", "pods", "-n", "shop", "-o", "json")
	if err != nil {
		return err
	}
	if result.Code != 0 {
		return fmt.Errorf("top pods: exit code %d: %s", result.Code, result.Stderr)
	}
	var pods diagnosticsv1alpha1.PodOverviewList
	if err := json.Unmarshal([]byte(result.Stdout), &pods); err != nil {
		return err
	}
	measured := 0
	for _, pod := range pods.Items {
		if pod.CPU.Used == nil {
			continue
		}
		measured++
		percent := float64(*pod.CPU.Used) / float64(pod.CPU.Requested) * 100
		if percent < recordedPercent-2 || percent > recordedPercent+2 {
			return fmt.Errorf("pod %s uses %.1f%% of its request, the recording says %d%%", pod.Name, percent, recordedPercent)
		}
	}
	if measured == 0 {
		return fmt.Errorf("none of %d pods is measured", len(pods.Items))
	}
	client, _, err := s.Clients()
	if err != nil {
		return err
	}
	batch, err := client.CoreV1().Pods("analytics").List(t.Context(), metav1.ListOptions{FieldSelector: "status.phase=" + string(corev1.PodRunning)})
	if err != nil {
		return err
	}
	if len(batch.Items) == 0 {
		return errors.New("no batch pod runs on what the recording leaves")
	}
	return nil
}
