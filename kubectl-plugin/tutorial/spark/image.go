package spark

import (
	"context"
	_ "embed" // what is downloaded, how it is verified, and the classes beside it

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/java"
)

//go:embed pom.xml
var pom []byte

//go:embed checksums.txt
var checksums []byte

//go:embed java/Words.java
var words []byte

//go:embed java/Entrypoint.java
var entrypoint []byte

// project is Spark with the application.
var project = java.Project{
	Name: "spark", POM: pom, Checksums: checksums,
	Sources: map[string][]byte{"Words.java": words, "Entrypoint.java": entrypoint},
}

// Image is the name that the image of Spark is imported by. No registry has it.
const Image = "koordinator.sh/sandbox/spark:4.0.1"

// options open to Spark the packages of Java that it reaches into.
func options() []string {
	out := []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"}
	for _, name := range []string{
		"java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent",
		"java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar",
	} {
		out = append(out, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	return append(out, "-Djdk.reflect.useDirectMethodHandle=false")
}

// importImage downloads Spark, makes an image of it and imports it into the node's containerd.
func (s *story) importImage(ctx context.Context, t *tutorial.Session) error {
	t.Tell("downloading Spark, unless the cache has it")
	jars, err := project.Jars(ctx)
	if err != nil {
		return err
	}
	s.jars = jars
	t.Tell("building the image, unless the cache has it")
	archive, err := java.Image(ctx, jars, "Entrypoint", Image, options())
	if err != nil {
		return err
	}
	if err := t.Node.ImportImage(ctx, archive); err != nil {
		return err
	}
	t.Show("ctr --namespace k8s.io images import spark.tar", "saved "+Image)
	return nil
}
