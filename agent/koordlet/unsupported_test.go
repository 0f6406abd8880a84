package koordlet

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// TestWhatIsConfiguredInVainIsToldWithItsFeature, of those that set values of cgroups and of those that set none.
func TestWhatIsConfiguredInVainIsToldWithItsFeature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newIdleRig(t, allOn)
		r.put("nodeslos", &slov1alpha1.NodeSLO{ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Spec: slov1alpha1.NodeSLOSpec{
			SystemStrategy: &slov1alpha1.SystemStrategy{MinFreeKbytesFactor: new(int64(0))},
			ResourceQOSStrategy: &slov1alpha1.ResourceQOSStrategy{
				SystemClass: &slov1alpha1.ResourceQOS{ResctrlQOS: &slov1alpha1.ResctrlQOSCfg{Enable: new(true)}},
			},
		}})
		r.follow()
		defer r.stop()
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(5 * time.Second)
		want := map[string]string{"SystemConfig": "vm.min_free_kbytes: a factor of 0", nodefeature.RdtResctrl.Name: "systemClass.resctrlQOS is not supported"}
		for _, feature := range explained(r) {
			wanted, is := want[feature.Name]
			delete(want, feature.Name)
			if problems := strings.Join(feature.Problems, "\n"); is && !strings.Contains(problems, wanted) {
				t.Errorf("%s tells %q, want %q among that", feature.Name, problems, wanted)
			}
		}
		for name := range want {
			t.Errorf("nothing is told of %s", name)
		}
	})
}
