package check

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// All are all checks, category by category.
var All = sync.OnceValue(func() []Check {
	return slices.Concat(kubernetesChecks, preinstallChecks, nodeChecks, schedulerChecks(), managerChecks(), agentChecks(), webhookChecks, configChecks)
})

// ParseCategories reads the names of categories; none are all.
func ParseCategories(names []string) ([]Category, error) {
	if len(names) == 0 {
		return Categories(), nil
	}
	var out []Category
	for _, category := range Categories() {
		if slices.Contains(names, string(category)) {
			out = append(out, category)
		}
	}
	for _, name := range names {
		if !slices.Contains(out, Category(name)) {
			return nil, fmt.Errorf("unknown category %q: must be one of %s", name, strings.Join(CategoryNames(), ", "))
		}
	}
	return out, nil
}

// CategoryNames are the names of all categories.
func CategoryNames() []string {
	var names []string
	for _, category := range Categories() {
		names = append(names, string(category))
	}
	return names
}
