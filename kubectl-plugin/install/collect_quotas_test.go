package install

import (
	"errors"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestPodsAreReadPageByPage: what ends them early is told apart from who needs no more of them.
func TestPodsAreReadPageByPage(t *testing.T) {
	page := func(next string, names ...string) *corev1.PodList {
		list := &corev1.PodList{ListMeta: metav1.ListMeta{Continue: next}}
		for _, name := range names {
			list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return list
	}
	tests := map[string]struct {
		second  runtime.Object
		failure error
		enough  int // pods after which no more are asked for
		want    int
		wantErr error
	}{
		"all pages":                         {second: page("", "c"), enough: 9, want: 3},
		"a connection that ends in between": {failure: io.EOF, enough: 9, want: 2, wantErr: io.EOF},
		"enough of the first page":          {second: page("", "c"), enough: 1, want: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, asked := fake.NewClientset(), 0
			client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				if asked++; asked == 1 {
					return true, page("more", "a", "b"), nil
				}
				return true, tc.second, tc.failure
			})
			got := 0
			var failed error
			for range (&collector{client: client}).allPods(t.Context(), &failed) {
				if got++; got == tc.enough {
					break
				}
			}
			if got != tc.want || !errors.Is(failed, tc.wantErr) {
				t.Errorf("%d pods, error %v; want %d, %v", got, failed, tc.want, tc.wantErr)
			}
		})
	}
}
