module github.com/holdfast-dev/holdfast/sdk/go

go 1.24
