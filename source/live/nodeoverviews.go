package live

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// nodeOverviews asks koord-manager for the nodes. It is nil where the answer is not whole, for whatever reason: koord-manager does not run or
// is of an earlier version, the user may not ask it, or load is judged by what it does not read.
func (c *clients) nodeOverviews(ctx context.Context, labelSelector string) *diagnosticsv1alpha1.NodeOverviewList {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	ask := c.diagnostics.Get().Resource("nodeoverviews").MaxRetries(0)
	if labelSelector != "" {
		ask.Param("labelSelector", labelSelector)
	}
	body, err := ask.Stream(ctx)
	if err != nil {
		return nil
	}
	defer body.Close()
	isList, whole := false, true
	items := func(r io.Reader, item func([]byte) error) error {
		return splitMembers(r, item, func(key, value []byte) error {
			switch strings.Trim(string(key), `"`) {
			case "kind":
				isList = string(value) == `"NodeOverviewList"`
			case "unknown", "incomplete":
				whole = whole && (string(value) == "null" || string(value) == "[]")
			}
			return nil
		})
	}
	read, err := collect(body, items, func(raw []byte, into *diagnosticsv1alpha1.NodeOverview) error {
		defer func() { into.TypeMeta = kind("NodeOverview") }()
		return json.Unmarshal(raw, into)
	})
	if err != nil || !isList || !whole {
		return nil
	}
	return &diagnosticsv1alpha1.NodeOverviewList{TypeMeta: kind("NodeOverviewList"), Items: read}
}
