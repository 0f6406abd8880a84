package kubectlplugin

import (
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/spark"
	"koordinator.sh/koord/kubectl-plugin/tutorial/trino"
	"koordinator.sh/koord/kubectl-plugin/tutorial/yarn"
)

// tutorials are those of `koordctl tutorial`, each of which is a package of its own below tutorial/.
func tutorials() []func() tutorial.Tutorial {
	return []func() tutorial.Tutorial{spark.New, trino.New, yarn.New}
}
