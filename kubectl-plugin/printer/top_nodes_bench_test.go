package printer

import (
	"fmt"
	"io"
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// BenchmarkNodeOverviews5000 prints the nodes of a large cluster for a program, as `koordctl top nodes | grep` does.
func BenchmarkNodeOverviews5000(b *testing.B) {
	list := &diagnosticsv1alpha1.NodeOverviewList{Items: make([]diagnosticsv1alpha1.NodeOverview, 5000)}
	for i := range list.Items {
		resource := diagnosticsv1alpha1.ResourceOverview{
			Capacity: 32000, Allocatable: 32000, Used: new(int64(4800 + i)), ProdRequested: new(int64(17920)), ProdUsed: new(int64(3840)),
			BatchAllocatable: new(int64(14860)), BatchRequested: new(int64(1900)), MidAllocatable: new(int64(0)), MidRequested: new(int64(0)),
		}
		list.Items[i] = diagnosticsv1alpha1.NodeOverview{CPU: resource, Memory: resource, Ready: true}
		list.Items[i].Name = fmt.Sprintf("node-%04d", i)
		list.Items[i].Load.State = diagnosticsv1alpha1.LoadNormal
	}
	for b.Loop() {
		if err := NodeOverviews(io.Discard, list, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
