package live

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// CPUs lists the annotations of the NodeResourceTopologies. A report that cannot be read counts as none, as it does for
// koord-manager; so does a cluster that does not know the kind.
func (s *Source) CPUs(ctx context.Context) (map[string]*extension.CPUBasicInfo, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	version := topologyv1alpha1.GroupVersion
	r := request{verb: "list", group: version.Group, resource: "noderesourcetopologies"}
	raw, err := rawOf(c.slo.Get().AbsPath("/apis", version.Group, version.Version, r.resource).Param("resourceVersion", fromCache).
		MaxRetries(retries).SetHeader("Accept", metadataOnly).Do(ctx))
	if err = failure(ctx, r, err); err != nil {
		if hasCode(err, finding.NotInstalled) {
			return nil, nil
		}
		return nil, err
	}
	var found metav1.PartialObjectMetadataList
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, failure(ctx, r, err)
	}
	out := make(map[string]*extension.CPUBasicInfo, len(found.Items))
	for i := range found.Items {
		if info, err := extension.GetCPUBasicInfo(found.Items[i].Annotations); err == nil && info != nil {
			out[found.Items[i].Name] = info
		}
	}
	return out, nil
}
