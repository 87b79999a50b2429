package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// newFieldCommand prints a value of a JSON document on standard input as a line. It is named by its
// keys, like "run.predicted_seconds". The elements of a list are separated by spaces. A missing
// value makes an empty line.
func newFieldCommand() *cobra.Command {
	return &cobra.Command{
		Use: "field KEYS", Short: "A value of a JSON document", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return printField(os.Stdout, os.Stdin, args[0]) },
	}
}

func printField(to io.Writer, from io.Reader, keys string) error {
	decoder := json.NewDecoder(from)
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	for key := range strings.SplitSeq(keys, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	list, is := value.([]any)
	if !is && value != nil {
		list = []any{value}
	}
	_, err := fmt.Fprintln(to, list...)
	return err
}
