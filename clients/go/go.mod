module fathom

go 1.24
