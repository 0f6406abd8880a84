package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuotasOfManifests(t *testing.T) {
	const quota = "{apiVersion: scheduling.sigs.k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: %s}, spec: {min: {cpu: 1}}}\n"
	web := fmt.Sprintf(quota, "web")
	list := func(items ...string) string {
		text := "apiVersion: v1\nkind: List\nitems:\n"
		for _, item := range items {
			text += "- " + item
		}
		return text
	}
	deep := web
	for range maxDepth + 1 {
		deep = "{apiVersion: v1, kind: List, items: [" + strings.TrimSpace(deep) + "]}\n"
	}
	tests := map[string]struct {
		manifests []string
		enforced  bool
		// want are the quotas with their documents.
		want         []string
		wantWarnings []string
		wantErr      string
	}{
		"one":                      {manifests: []string{web}, want: []string{"1 shop/web"}},
		"several in several files": {manifests: []string{web + "---\n" + fmt.Sprintf(quota, "ads"), web}, want: []string{"1 shop/web", "2 shop/ads", "1 shop/web"}},
		"one of a list":            {manifests: []string{list(web, "{apiVersion: v1, kind: Namespace, metadata: {name: x}}\n")}, want: []string{"1 shop/web"}},
		"its own namespace":        {manifests: []string{fmt.Sprintf(quota, "web, namespace: teams")}, want: []string{"1 teams/web"}},
		"another kind":             {manifests: []string{"{apiVersion: v1, kind: Pod}"}},
		"another group":            {manifests: []string{strings.ReplaceAll(web, "scheduling.sigs.k8s.io", "example.org")}},
		"nothing":                  {manifests: []string{"", "# nothing\n---\n"}},
		"a field that it lacks":    {manifests: []string{strings.ReplaceAll(web, "min:", "mim:")}, want: []string{"1 shop/web"}, wantWarnings: []string{`document 1: unknown field "spec.mim"`}},
		"an amount that is none":   {manifests: []string{strings.ReplaceAll(web, "cpu: 1", "cpu: lots")}, wantErr: "document 1: quantities must match"},
		"no name":                  {manifests: []string{fmt.Sprintf(quota, `""`)}, wantErr: "document 1: the ElasticQuota has no name"},
		"no kind":                  {manifests: []string{"{metadata: {name: x}}"}, wantErr: "document 1: it has no kind"},
		"a number":                 {manifests: []string{"7"}, wantErr: "document 1: "},
		"lists in lists":           {manifests: []string{deep}, wantErr: "lists are nested more than 4 deep"},
		"a namespace that is not enforced": {
			manifests: []string{fmt.Sprintf(quota, "web, namespace: teams")}, enforced: true,
			wantErr: `document 1: ElasticQuota "web" is in namespace "teams", which is not the namespace "shop" of --namespace`,
		},
		"too much": {manifests: []string{strings.Repeat("#", MaxBytes/2), strings.Repeat("#", MaxBytes/2+1)}, wantErr: "the manifests are larger than 8 MiB"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			quotas := NewQuotas("shop", tc.enforced)
			var err error
			for _, text := range tc.manifests {
				if err = quotas.Read(strings.NewReader(text)); err != nil {
					break
				}
			}
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range quotas.Items {
				got = append(got, fmt.Sprintf("%d %s/%s", item.Document, item.Object.Namespace, item.Object.Name))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("quotas (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantWarnings, quotas.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
