package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
)

func TestReservationsAreListedByName(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*clusterBuilder)
		want []string
		code finding.Code
	}{
		"by name":       {func(*clusterBuilder) {}, []string{"a", "b"}, ""},
		"no permission": {func(b *clusterBuilder) { b.denied("list reservations") }, nil, finding.Forbidden},
		"not installed": {func(b *clusterBuilder) { b.server.NoCRDs = true }, nil, finding.NotInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := makeCluster().reservation("b").reservation("a")
			tc.edit(cluster)
			found, err := cluster.source(t).Reservations(t.Context())
			var got []string
			for i := range found {
				got = append(got, found[i].Name)
				if found[i].ManagedFields != nil {
					t.Errorf("%s has managed fields", found[i].Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("reservations (-want +got):\n%s", diff)
			}
			if coded, ok := finding.From(err); (tc.code != "") != ok || ok && coded.Code != tc.code {
				t.Errorf("error %v, want code %q", err, tc.code)
			}
		})
	}
}
