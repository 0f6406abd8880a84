package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestWhatComponentsLeftIsRemoved(t *testing.T) {
	meta := func(name string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: DefaultNamespace, Name: name, Labels: labels}
	}
	want := []Change{
		{APIVersion: "v1", Kind: "Secret", Namespace: DefaultNamespace, Name: "serving", Action: Deleted},
		{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: DefaultNamespace, Name: "koord-scheduler", Action: Deleted},
	}
	for name, tc := range map[string]struct {
		options              Options
		wantDeletes, wantDry int
	}{
		"in earnest":           {Options{}, 8, 0}, // of six there are none
		"judged by the server": {Options{DryRun: true}, 8, 8},
		"read only":            {Options{ReadOnly: true}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(
				&corev1.Secret{ObjectMeta: meta("serving", leftoverSecrets)}, &corev1.Secret{ObjectMeta: meta("mine", nil)},
				&coordinationv1.Lease{ObjectMeta: meta("koord-scheduler", nil)},
			)
			options, err := tc.options.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&session{options: options, client: client}).removeLeftovers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("unexpected changes (-want +got):\n%s", diff)
			}
			deletes, dry := 0, 0
			for _, action := range client.Actions() {
				if sent, is := action.(clienttesting.DeleteAction); is {
					deletes++
					dry += len(sent.GetDeleteOptions().DryRun)
				}
			}
			if deletes != tc.wantDeletes || dry != tc.wantDry {
				t.Errorf("%d deletions were sent, %d of them dry, want %d and %d", deletes, dry, tc.wantDeletes, tc.wantDry)
			}
		})
	}
}
